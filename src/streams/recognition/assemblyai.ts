// AssemblyAI over its WebSocket /v3/ws: the vendor decides when a turn has ended.
import { isSet, listOf, memberOf, textOf } from '../../lib/members.ts'
import { readJson } from '../../lib/read-json.ts'
import type { RecognitionOrder } from '../../contracts/recognition.ts'
import { numberOf } from './alternatives.ts'
import type { Dialect, Heard, HeardWords, VendorOfEars } from './dialect.ts'
import { addQuery, demandKey } from './vendor-options.ts'

const publicAddress = 'wss://streaming.assemblyai.com'
const english = 'universal-streaming-english'
const multilingual = 'universal-streaming-multilingual'
// Shorter messages end the session with 3007.
const minChunkMs = 50
// A session ends after three hours.
const maxSessionMs = 170 * 60_000
const keepAliveMs = 4000

const parameters: Readonly<Record<string, string>> = {
  speechModel: 'speech_model',
  formatTurns: 'format_turns',
  endOfTurnConfidenceThreshold: 'end_of_turn_confidence_threshold',
  minEndOfTurnSilenceWhenConfident: 'min_end_of_turn_silence_when_confident',
  minTurnSilence: 'min_turn_silence',
  maxTurnSilence: 'max_turn_silence',
  prompt: 'prompt',
  languageDetection: 'language_detection',
  vadThreshold: 'vad_threshold',
  inactivityTimeout: 'inactivity_timeout',
}

export const assemblyai: VendorOfEars = createAssemblyAi()

export function createAssemblyAi(at: string = publicAddress): VendorOfEars {
  return {
    name: 'assemblyai',
    dialectOf(order): Dialect {
      const { vendorOptions, side } = order
      const turns = new Turns(isFormatted(order))
      return {
        url: addressOf(order, at),
        headers: { authorization: demandKey('assemblyai', order) ?? '' },
        rate: side.rate,
        first: [],
        minChunkMs,
        hear: (message) => turns.hear(readJson(message)),
        finalize: () => JSON.stringify({ type: 'ForceEndpoint' }),
        end: () => [JSON.stringify({ type: 'Terminate' })],
        refusedBy: (code) => refusals[code],
        maxSessionMs,
        // Without a limit on inactivity, the message is refused.
        ...(numberOf(vendorOptions, 'inactivityTimeout') === undefined
          ? {}
          : { keepAlive: { frame: JSON.stringify({ type: 'KeepAlive' }), everyMs: keepAliveMs } }),
      }
    },
  }
}

const refusals: Readonly<Record<number, string>> = {
  1008: 'assemblyai refused the key',
  3009: 'assemblyai has no room for another session of the account',
  4001: 'assemblyai refused the key',
  4002: 'the account at assemblyai has no funds',
  4003: 'the account at assemblyai may not do this',
}

function isFormatted({ vendorOptions, punctuation }: RecognitionOrder): boolean {
  return isSet(vendorOptions, 'formatTurns') || (punctuation === true && !('formatTurns' in vendorOptions))
}

function addressOf(order: RecognitionOrder, at: string): string {
  const { vendorOptions, language, hints, model, side } = order
  const url = new URL('/v3/ws', at)
  const query = url.searchParams
  query.set('sample_rate', String(side.rate))
  query.set('encoding', 'pcm_s16le')
  query.set('speech_model', model ?? (language.startsWith('en') ? english : multilingual))
  if (isFormatted(order)) query.set('format_turns', 'true')
  addQuery(query, vendorOptions, parameters)
  const terms = [...hints.map(({ phrase }) => phrase), ...listOf(vendorOptions, 'keyterms')]
  if (terms.length > 0) query.set('keyterms_prompt', JSON.stringify(terms))
  return url.href
}

/** Follows turns. With formatting, the end of each is sent twice: raw, and then formatted. */
class Turns {
  readonly #isFormatted: boolean
  /** The raw end of a turn whose formatted one has not come. */
  #raw: HeardWords | undefined
  #rawOrder = -1
  #lastOrder = -1

  constructor(areFormatted: boolean) {
    this.#isFormatted = areFormatted
  }

  hear(message: unknown): readonly Heard[] {
    const type = textOf(message, 'type')
    switch (type) {
      case 'Turn':
        return this.#turn(message)
      case 'SpeechStarted':
        return [{ type: 'event', event: { ...(message as object), type } }]
      case 'Termination':
        return [...this.#flushed(), { type: 'done' }]
      case 'Error':
        return [{ type: 'failed', because: textOf(message, 'error') ?? 'an error', isFinal: false }]
      case undefined:
      default:
        return textOf(message, 'error') === undefined
          ? []
          : [{ type: 'failed', because: textOf(message, 'error') ?? '', isFinal: false }]
    }
  }

  #turn(message: unknown): readonly Heard[] {
    const order = numberOf(message, 'turn_order') ?? 0
    // The end of this turn was reported before.
    if (order <= this.#lastOrder) return []
    const former = order > this.#rawOrder ? this.#flushed() : []
    const isEnd = memberOf(message, 'end_of_turn') === true
    const words = wordsIn(message, isEnd)
    if (!isEnd) return [...former, words]
    if (words.text === '') return former
    if (this.#isFormatted && memberOf(message, 'turn_is_formatted') !== true) {
      this.#raw = words
      this.#rawOrder = order
      return [...former, { ...words, isFinal: false, turn: undefined }]
    }
    this.#raw = undefined
    this.#lastOrder = order
    return [...former, words]
  }

  /** Ends a turn without its formatted form. */
  #flushed(): readonly Heard[] {
    const raw = this.#raw
    if (raw === undefined) return []
    this.#raw = undefined
    this.#lastOrder = this.#rawOrder
    return [raw]
  }
}

function wordsIn(message: unknown, isFinal: boolean): HeardWords {
  const words = listOf(message, 'words')
  const texts = words.map((word) => textOf(word, 'text') ?? '').join(' ')
  const transcript = textOf(message, 'transcript') ?? ''
  return {
    type: 'words',
    // The transcript of a turn that goes on lacks the words that may still change.
    text: isFinal || texts.length < transcript.length ? transcript : texts,
    isFinal,
    turn: isFinal ? 'end' : undefined,
    confidence: numberOf(message, 'end_of_turn_confidence') ?? 0,
    language: textOf(message, 'language_code'),
    startMs: numberOf(words[0], 'start'),
    endMs: numberOf(words.at(-1), 'end'),
    evt: message,
  }
}
