// A Vosk server, which anyone can run: JSON over a WebSocket, without keys or languages.
import { AppError } from '../../lib/errors.ts'
import { listOf, memberOf, textOf } from '../../lib/members.ts'
import { readJson } from '../../lib/read-json.ts'
import { numberOf } from './alternatives.ts'
import type { Dialect, Heard, VendorOfEars } from './dialect.ts'
import { withScheme } from './vendor-options.ts'

export const vosk: VendorOfEars = {
  name: 'vosk',
  dialectOf({ settings, vendorOptions, hints, side }): Dialect {
    const address = textOf(vendorOptions, 'uri') ?? textOf(settings, 'custom_stt_url')
    if (address === undefined) throw new AppError('recognizer_unknown', 'vosk has no address: give a uri')
    const phrases = hints.map(({ phrase }) => phrase)
    let last: string | undefined
    let isEnding = false
    return {
      url: withScheme(address, false),
      headers: {},
      rate: side.rate,
      first: [
        JSON.stringify({
          config: {
            sample_rate: side.rate,
            words: true,
            ...(phrases.length === 0 ? {} : { phrase_list: [...phrases, '[unk]'] }),
          },
        }),
      ],
      hear(message) {
        const parsed = readJson(message)
        const partial = memberOf(parsed, 'partial')
        if (typeof partial !== 'string') {
          last = undefined
          return [...finalIn(parsed), ...(isEnding ? [{ type: 'done' } as const] : [])]
        }
        // Each message of audio is answered, mostly with what was said before.
        if (partial === last) return []
        last = partial
        return [{ type: 'words', text: partial, isFinal: false, confidence: 0, evt: parsed }]
      },
      end() {
        isEnding = true
        // The server compares the text, with its spaces.
        return ['{"eof" : 1}']
      },
    }
  },
}

function finalIn(message: unknown): readonly Heard[] {
  const text = textOf(message, 'text') ?? textOf(message, 'alternatives', 0, 'text')
  const words = listOf(message, 'result')
  const startMs = numberOf(words[0], 'start')
  const endMs = numberOf(words.at(-1), 'end')
  const confidence = words.reduce<number>((sum, word) => sum + (numberOf(word, 'conf') ?? 0), 0)
  return [
    {
      type: 'words',
      text: text ?? '',
      isFinal: true,
      confidence: confidence / Math.max(1, words.length),
      startMs: startMs === undefined ? undefined : startMs * 1000,
      endMs: endMs === undefined ? undefined : endMs * 1000,
      evt: message,
    },
  ]
}
