// ElevenLabs over its realtime WebSocket: audio in JSON, and a commit for each utterance.
import { isSet, listOf, memberOf, textOf } from '../../lib/members.ts'
import { readJson } from '../../lib/read-json.ts'
import type { RecognitionOrder } from '../../contracts/recognition.ts'
import { numberOf } from './alternatives.ts'
import type { Dialect, Heard, HeardWords, VendorOfEars } from './dialect.ts'
import { addQuery, demandKey, withScheme } from './vendor-options.ts'

const publicAddress = 'wss://api.elevenlabs.io'
const presetModel = 'scribe_v2_realtime'
const bytesOfSample = 2
const keepAliveMs = 10_000
/** A commit of less audio is refused. */
const leastCommitMs = 300

const parameters: Readonly<Record<string, string>> = {
  includeTimestamps: 'include_timestamps',
  commitStrategy: 'commit_strategy',
  vadSilenceThresholdSecs: 'vad_silence_threshold_secs',
  vadThreshold: 'vad_threshold',
  minSpeechDurationMs: 'min_speech_duration_ms',
  minSilenceDurationMs: 'min_silence_duration_ms',
  enableLogging: 'enable_logging',
}

/** The types of errors that another connection would bring again. */
const finalErrors = /^(auth_error|quota_exceeded|unaccepted_terms|input_error|rate_limited|invalid_request)$/
/** There was too little to commit, or nothing was said: no failure. */
const harmless = /^(commit_throttled|insufficient_audio_activity)$/

export const elevenlabs: VendorOfEars = {
  name: 'elevenlabs',
  dialectOf(order): Dialect {
    const { side, vendorOptions } = order
    const chunk = (octets: Uint8Array, isCommit = false): string =>
      JSON.stringify({
        message_type: 'input_audio_chunk',
        audio_base_64: Buffer.from(octets).toString('base64'),
        commit: isCommit,
        sample_rate: side.rate,
      })
    const nothing = new Uint8Array(0)
    // Both forms come if times are asked for.
    const committed = isSet(vendorOptions, 'includeTimestamps')
      ? 'committed_transcript_with_timestamps'
      : 'committed_transcript'
    let isEnding = false
    /** The audio since the last commit, or more: when the vendor committed by itself is not known exactly. */
    let sinceMs = 0
    const commit = (): readonly string[] => {
      if (sinceMs < leastCommitMs) return []
      sinceMs = 0
      return [chunk(nothing, true)]
    }
    return {
      url: addressOf(order),
      headers: { 'xi-api-key': demandKey('elevenlabs', order) ?? '' },
      rate: side.rate,
      first: [],
      encode(octets) {
        sinceMs += (octets.length * 1000) / (bytesOfSample * side.rate)
        return chunk(octets)
      },
      hear(message) {
        const heard = heardIn(readJson(message), committed)
        if (!heard.some((one) => one.type === 'words' && one.isFinal)) return heard
        sinceMs = 0
        return isEnding ? [...heard, { type: 'done' }] : heard
      },
      keepAlive: { frame: chunk(nothing), everyMs: keepAliveMs },
      finalize: () => commit()[0],
      end() {
        isEnding = true
        return commit()
      },
      refusedBy: (code) => (code === 1008 ? 'elevenlabs refused the key or a parameter' : undefined),
    }
  },
}

function addressOf(order: RecognitionOrder): string {
  const { settings, vendorOptions, language, model, side } = order
  const own = textOf(settings, 'model_id')
  // The model of the credential is one that speaks, or one that listens.
  const ofCredential = own !== undefined && /^scribe.*realtime/.test(own) ? own : undefined
  const at = withScheme(textOf(settings, 'api_uri') ?? publicAddress, true)
  const url = new URL('/v1/speech-to-text/realtime', at)
  const query = url.searchParams
  query.set('model_id', textOf(vendorOptions, 'model') ?? model ?? ofCredential ?? presetModel)
  query.set('audio_format', `pcm_${side.rate}`)
  query.set('commit_strategy', 'vad')
  if (language !== 'multi') query.set('language_code', language.split('-')[0] ?? language)
  addQuery(query, vendorOptions, parameters)
  return url.href
}

function heardIn(message: unknown, committed: string): readonly Heard[] {
  const type = textOf(message, 'message_type') ?? ''
  if (type === 'partial_transcript') return [wordsIn(message, false)]
  if (type === committed) return [wordsIn(message, true)]
  const because = textOf(message, 'error') ?? textOf(message, 'message')
  if (because === undefined || harmless.test(type)) return []
  return [{ type: 'failed', because, isFinal: finalErrors.test(type) }]
}

function wordsIn(message: unknown, isFinal: boolean): HeardWords {
  const words = listOf(message, 'words').filter((word) => memberOf(word, 'type') !== 'spacing')
  const startMs = numberOf(words[0], 'start')
  const endMs = numberOf(words.at(-1), 'end')
  return {
    type: 'words',
    text: textOf(message, 'text')?.trim() ?? '',
    isFinal,
    confidence: 0,
    language: textOf(message, 'language_code'),
    startMs: startMs === undefined ? undefined : startMs * 1000,
    endMs: endMs === undefined ? undefined : endMs * 1000,
    evt: message,
  }
}
