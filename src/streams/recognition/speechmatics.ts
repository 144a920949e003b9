// Speechmatics over its realtime WebSocket: sentences in pieces, and the end of an utterance by a pause.
import { memberOf, listOf, textOf } from '../../lib/members.ts'
import { readJson } from '../../lib/read-json.ts'
import type { RecognitionOrder } from '../../contracts/recognition.ts'
import { numberOf } from './alternatives.ts'
import type { Dialect, Heard, HeardWords, VendorOfEars } from './dialect.ts'
import { Utterance } from './utterance.ts'
import { demandKey, withScheme } from './vendor-options.ts'

const presetHost = 'eu2.rt.speechmatics.com'
const presetMaxDelay = 1
/** The pause that ends an utterance, in seconds. */
const presetTrigger = 0.7
// A session ends after 48 hours.
const maxSessionMs = 47 * 3_600_000

/** The types of errors that another connection would bring again. */
const finalErrors = /not_authorised|not_allowed|quota|invalid|insufficient|job_error/

export const speechmatics: VendorOfEars = {
  name: 'speechmatics',
  dialectOf(order): Dialect {
    const { settings, vendorOptions, side } = order
    const host = textOf(vendorOptions, 'host') ?? textOf(settings, 'speechmatics_stt_uri') ?? presetHost
    const config = configOf(order)
    const utterances = new Utterances(hasTrigger(config))
    let count = 0
    return {
      url: new URL('/v2', withScheme(host.replace(/\/+$/, ''), true)).href,
      headers: { authorization: `Bearer ${demandKey('speechmatics', order)}` },
      rate: side.rate,
      first: [
        JSON.stringify({
          message: 'StartRecognition',
          audio_format: { type: 'raw', encoding: 'pcm_s16le', sample_rate: side.rate },
          transcription_config: config,
          ...extrasOf(order),
        }),
      ],
      waits: true,
      encode(octets) {
        count += 1
        return octets
      },
      hear: (message) => utterances.hear(readJson(message)),
      rest: () => utterances.rest(),
      finalize: () => (hasTrigger(config) ? JSON.stringify({ message: 'ForceEndOfUtterance' }) : undefined),
      end: () => [JSON.stringify({ message: 'EndOfStream', last_seq_no: count })],
      refusedBy: (code) =>
        refusals.has(code) ? 'speechmatics refused the key, the account or the model' : undefined,
      maxSessionMs,
    }
  },
}

const refusals: ReadonlySet<number> = new Set([4001, 4003, 4004, 4005])

function extrasOf({ vendorOptions }: RecognitionOrder): object {
  const names = ['translation_config', 'audio_events_config']
  return Object.fromEntries(
    names.flatMap((name) => (vendorOptions[name] === undefined ? [] : [[name, vendorOptions[name]]])),
  )
}

function configOf({
  vendorOptions,
  language,
  hints,
  model,
}: RecognitionOrder): Readonly<Record<string, unknown>> {
  const own = memberOf(vendorOptions, 'transcription_config')
  const words = [...hints.map(({ phrase }) => ({ content: phrase })), ...listOf(own, 'additional_vocab')]
  return {
    language: language.split('-')[0] ?? language,
    max_delay: presetMaxDelay,
    conversation_config: { end_of_utterance_silence_trigger: presetTrigger },
    ...(model === undefined ? {} : { operating_point: model }),
    ...(typeof own === 'object' ? own : {}),
    // Partials say that the vendor hears, and stop a prompt.
    enable_partials: true,
    ...(words.length === 0 ? {} : { additional_vocab: words }),
  }
}

function hasTrigger(config: unknown): boolean {
  return (numberOf(config, 'conversation_config', 'end_of_utterance_silence_trigger') ?? 0) > 0
}

/** Follows utterances. Without a trigger for their end, each piece is final by itself. */
class Utterances {
  readonly #hasEnds: boolean
  readonly #utterance = new Utterance('')
  #lastMs = -1

  constructor(hasEnds: boolean) {
    this.#hasEnds = hasEnds
  }

  hear(message: unknown): readonly Heard[] {
    const type = textOf(message, 'message')
    switch (type) {
      case 'RecognitionStarted':
        return [{ type: 'ready' }]
      case 'AddPartialTranscript':
        return [this.#utterance.with(wordsIn(message))]
      case 'AddTranscript':
        if (!this.#isNew(wordsIn(message))) return []
        this.#utterance.add(wordsIn(message))
        if (!this.#hasEnds) return this.#end(message)
        return [this.#utterance.with({ ...wordsIn(message), text: '' })]
      case 'EndOfUtterance':
        return this.#end(message)
      case 'EndOfTranscript':
        return [...this.#end(message), { type: 'done' }]
      case 'Error':
        return [
          {
            type: 'failed',
            because: textOf(message, 'reason') ?? textOf(message, 'type') ?? 'an error',
            isFinal: finalErrors.test(textOf(message, 'type') ?? ''),
          },
        ]
      case undefined:
      default:
        return []
    }
  }

  /** Reports whether a piece goes on after the last one. */
  #isNew({ startMs = 0, endMs = 0, text }: HeardWords): boolean {
    if (text === '' || startMs < this.#lastMs) return false
    this.#lastMs = endMs
    return true
  }

  rest(): HeardWords | undefined {
    return this.#utterance.end()
  }

  #end(evt: unknown): readonly HeardWords[] {
    const words = this.#utterance.end(evt)
    return words === undefined ? [] : [{ ...words, turn: this.#hasEnds ? 'end' : undefined }]
  }
}

function wordsIn(message: unknown): HeardWords {
  const results = listOf(message, 'results')
  const confidences = results.map((result) => numberOf(result, 'alternatives', 0, 'confidence') ?? 0)
  const startMs = numberOf(message, 'metadata', 'start_time')
  const endMs = numberOf(message, 'metadata', 'end_time')
  return {
    type: 'words',
    text: textOf(message, 'metadata', 'transcript') ?? '',
    isFinal: false,
    confidence: confidences.reduce((sum, one) => sum + one, 0) / Math.max(1, confidences.length),
    language: textOf(results[0], 'alternatives', 0, 'language'),
    startMs: startMs === undefined ? undefined : startMs * 1000,
    endMs: endMs === undefined ? undefined : endMs * 1000,
    evt: message,
  }
}
