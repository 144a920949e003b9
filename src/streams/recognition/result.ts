// Words of a vendor in the form in which hooks get them.
import type { RecognitionOrder, SpeechResult } from '../../contracts/recognition.ts'
import type { HeardWords } from './dialect.ts'

export function toResult(words: HeardWords, order: RecognitionOrder): SpeechResult {
  const { text: transcript, confidence, more, others = [], language, isFinal, evt, ofVendor } = words
  return {
    language_code: language ?? order.language,
    channel_tag: order.side.channel,
    is_final: isFinal,
    alternatives: [{ transcript, confidence, ...more }, ...others],
    vendor: { name: order.vendor, evt, ...ofVendor },
  }
}
