// Deepgram Flux over its WebSocket /v2/listen: the vendor decides when a turn has ended.
import { listOf, textOf } from '../../lib/members.ts'
import { readJson } from '../../lib/read-json.ts'
import type { RecognitionOrder, TurnSign } from '../../contracts/recognition.ts'
import { numberOf } from './alternatives.ts'
import { keyHeader, pathOf } from './deepgram.ts'
import type { Dialect, Heard, VendorOfEars } from './dialect.ts'
import { addQuery } from './vendor-options.ts'

const english = 'flux-general-en'
const multilingual = 'flux-general-multi'

/** The options that are parameters of the query, by their name there. Their ranges change, and the vendor checks them. */
const parameters: Readonly<Record<string, string>> = {
  eotThreshold: 'eot_threshold',
  eagerEotThreshold: 'eager_eot_threshold',
  eotTimeoutMs: 'eot_timeout_ms',
  keyterms: 'keyterm',
  tag: 'tag',
  mipOptOut: 'mip_opt_out',
}

const turns: Readonly<Record<string, TurnSign>> = {
  EagerEndOfTurn: 'eager',
  TurnResumed: 'resumed',
  EndOfTurn: 'end',
}

export const deepgramFlux: VendorOfEars = {
  name: 'deepgramflux',
  dialectOf: (order): Dialect => ({
    url: addressOf(order),
    headers: keyHeader(order),
    rate: order.side.rate,
    first: [],
    hear: (message) => heardIn(readJson(message)),
    finalize: () => JSON.stringify({ type: 'ForceEndTurn' }),
    // CloseStream alone ends no turn.
    end: () => [JSON.stringify({ type: 'ForceEndTurn' }), JSON.stringify({ type: 'CloseStream' })],
    refusedBy: (code) =>
      code === 4001 || code === 1008 ? 'deepgram refused the key or a parameter' : undefined,
  }),
}

function addressOf(order: RecognitionOrder): string {
  const { vendorOptions, language, altLanguages, hints, model, side } = order
  const isEnglish = language.startsWith('en') && altLanguages.length === 0
  const chosen = textOf(vendorOptions, 'model') ?? model ?? (isEnglish ? english : multilingual)
  const url = pathOf(order, '/v2/listen')
  const query = url.searchParams
  query.set('model', chosen)
  query.set('encoding', 'linear16')
  query.set('sample_rate', String(side.rate))
  addQuery(query, vendorOptions, parameters)
  for (const { phrase } of hints) query.append('keyterm', phrase)
  if (chosen === multilingual) for (const hint of languagesOf(order)) query.append('language_hint', hint)
  return url.href
}

function languagesOf({ vendorOptions, language, altLanguages }: RecognitionOrder): readonly string[] {
  const own = listOf(vendorOptions, 'languageHints').filter((one) => typeof one === 'string')
  if (own.length > 0) return own
  const wished = [language, ...altLanguages].flatMap((one) => one.split('-')[0] ?? [])
  return [...new Set(wished)].filter((one) => one !== 'multi')
}

function heardIn(message: unknown): readonly Heard[] {
  const type = textOf(message, 'type')
  if (type === 'TurnInfo') return turnIn(message)
  if (type !== 'Error' && type !== 'FatalError') return []
  return [{ type: 'failed', because: textOf(message, 'description') ?? 'an error', isFinal: false }]
}

function turnIn(message: unknown): readonly Heard[] {
  const event = textOf(message, 'event') ?? ''
  const words = listOf(message, 'words').map((word) => numberOf(word, 'confidence') ?? 0)
  const startMs = numberOf(message, 'audio_window_start')
  const endMs = numberOf(message, 'audio_window_end')
  return [
    {
      type: 'words',
      text: textOf(message, 'transcript') ?? '',
      isFinal: event === 'EndOfTurn',
      turn: turns[event],
      confidence: words.length === 0 ? 0 : words.reduce((sum, one) => sum + one, 0) / words.length,
      language: textOf(message, 'languages', 0),
      startMs: startMs === undefined ? undefined : startMs * 1000,
      endMs: endMs === undefined ? undefined : endMs * 1000,
      more: {
        end_of_turn_confidence: numberOf(message, 'end_of_turn_confidence') ?? 0,
        ...(event === 'Update' || event === '' ? {} : { turn_taking_event: event }),
      },
      evt: message,
    },
  ]
}
