// Deepgram over its WebSocket /v1/listen: nova models, with finals and the end of an utterance by a pause.
import { isSet, listOf, memberOf, textOf } from '../../lib/members.ts'
import { readJson } from '../../lib/read-json.ts'
import type { RecognitionOrder } from '../../contracts/recognition.ts'
import { alternativesOf, numberOf } from './alternatives.ts'
import type { Dialect, Heard, HeardWords, VendorOfEars } from './dialect.ts'
import { Utterance } from './utterance.ts'
import { addQuery, demandKey, withScheme } from './vendor-options.ts'

const publicAddress = 'https://api.deepgram.com'
const presetModel = 'nova-2'
// The pause that ends an utterance. Deepgram's own preset of ten milliseconds ends one between two words.
const presetEndpointingMs = '300'
// A socket without audio is closed after ten seconds.
const keepAliveMs = 4000

/** The options of `deepgramOptions` that are parameters of the query, by their name there. */
const parameters: Readonly<Record<string, string>> = {
  tier: 'tier',
  version: 'version',
  punctuate: 'punctuate',
  smartFormatting: 'smart_format',
  noDelay: 'no_delay',
  profanityFilter: 'profanity_filter',
  redact: 'redact',
  diarize: 'diarize',
  diarizeVersion: 'diarize_version',
  ner: 'ner',
  alternatives: 'alternatives',
  numerals: 'numerals',
  search: 'search',
  replace: 'replace',
  keywords: 'keywords',
  keyterms: 'keyterm',
  endpointing: 'endpointing',
  utteranceEndMs: 'utterance_end_ms',
  vadTurnoff: 'vad_turnoff',
  tag: 'tag',
  fillerWords: 'filler_words',
  mipOptOut: 'mip_opt_out',
}

export const deepgram: VendorOfEars = {
  name: 'deepgram',
  dialectOf(order): Dialect {
    const { vendorOptions, side } = order
    const utterances = new Utterances(isSet(vendorOptions, 'shortUtterance'))
    return {
      url: addressOf(order),
      headers: keyHeader(order),
      rate: side.rate,
      first: [],
      hear: (message) => utterances.hear(readJson(message)),
      rest: () => utterances.rest(),
      // As text: a binary message would be taken for audio.
      keepAlive: { frame: JSON.stringify({ type: 'KeepAlive' }), everyMs: keepAliveMs },
      finalize: () => JSON.stringify({ type: 'Finalize' }),
      end: () => [JSON.stringify({ type: 'CloseStream' })],
      refusedBy: (code) =>
        code === 4001 || code === 1008 ? 'deepgram refused the key or a parameter' : undefined,
    }
  },
}

/** Returns the header of the key, which a private installation does not need. */
export function keyHeader({ settings, vendorOptions }: RecognitionOrder): Readonly<Record<string, string>> {
  const isPrivate = hostOf({ settings, vendorOptions }) !== undefined
  const key = demandKey('deepgram', { settings, vendorOptions, isNeeded: !isPrivate })
  return key === undefined ? {} : { authorization: `Token ${key}` }
}

export function hostOf({
  settings,
  vendorOptions,
}: Pick<RecognitionOrder, 'settings' | 'vendorOptions'>): string | undefined {
  return textOf(vendorOptions, 'deepgramSttUri') ?? textOf(settings, 'deepgram_stt_uri')
}

/** Returns the address of the service with its path. */
export function pathOf(order: RecognitionOrder, path: string): URL {
  const { settings, vendorOptions } = order
  const host = hostOf(order)
  const isSecure = isSet(vendorOptions, 'deepgramSttUseTls') || isSet(settings, 'deepgram_stt_use_tls')
  return new URL(path, host === undefined ? toSocket(publicAddress) : withScheme(host, isSecure))
}

const toSocket = (url: string): string => url.replace(/^http/, 'ws')

function addressOf(order: RecognitionOrder): string {
  const { settings, vendorOptions, language, hints, model, punctuation, profanityFilter, side } = order
  const own = textOf(settings, 'model_id')
  const ofCredential = own === undefined || own.startsWith('aura-') ? undefined : own
  const chosen =
    textOf(vendorOptions, 'customModel') ??
    textOf(vendorOptions, 'model') ??
    model ??
    ofCredential ??
    presetModel
  const url = pathOf(order, '/v1/listen')
  const query = url.searchParams
  query.set('model', chosen)
  query.set('language', language)
  query.set('encoding', 'linear16')
  query.set('sample_rate', String(side.rate))
  query.set('channels', '1')
  // Asked for always: partials say that the vendor hears, and stop a prompt.
  query.set('interim_results', 'true')
  if (punctuation !== undefined) query.set('punctuate', String(punctuation))
  if (profanityFilter !== undefined) query.set('profanity_filter', String(profanityFilter))
  query.set('endpointing', presetEndpointingMs)
  addQuery(query, vendorOptions, parameters)
  if (query.get('endpointing') === 'true') query.set('endpointing', presetEndpointingMs)
  // nova-3 has key terms, the models before it keywords with a weight.
  const isThird = chosen.startsWith('nova-3')
  for (const { phrase, boost } of hints)
    query.append(
      isThird ? 'keyterm' : 'keywords',
      isThird || boost === undefined ? phrase : `${phrase}:${boost}`,
    )
  return url.href
}

/** Follows utterances, which end by a pause or after Finalize. */
class Utterances {
  readonly #isShort: boolean
  readonly #utterance = new Utterance()

  constructor(isShort: boolean) {
    this.#isShort = isShort
  }

  hear(message: unknown): readonly Heard[] {
    const type = textOf(message, 'type')
    switch (type) {
      case 'Results':
        return [this.#results(message)]
      case 'UtteranceEnd':
        return [...this.#end(message), { type: 'event', event: { ...(message as object), type } }]
      // The last message after CloseStream.
      case 'Metadata':
        return [...this.#end(message), { type: 'done' }]
      case 'Error':
        return [{ type: 'failed', because: textOf(message, 'description') ?? 'an error', isFinal: false }]
      case undefined:
      default:
        return []
    }
  }

  rest(): HeardWords | undefined {
    return this.#utterance.end()
  }

  #results(message: unknown): HeardWords {
    const words = wordsIn(message)
    if (memberOf(message, 'is_final') !== true) return this.#utterance.with(words)
    this.#utterance.add(words)
    const isEnd =
      this.#isShort ||
      memberOf(message, 'speech_final') === true ||
      memberOf(message, 'from_finalize') === true
    if (isEnd) return this.#utterance.end(message) ?? { ...words, isFinal: true }
    return this.#utterance.with({ ...words, text: '' })
  }

  /** Returns the words of an utterance whose end was not reported. */
  #end(evt: unknown): readonly Heard[] {
    const words = this.#utterance.end(evt)
    return words === undefined ? [] : [words]
  }
}

function wordsIn(message: unknown): HeardWords {
  const channel = memberOf(message, 'channel')
  const [first, ...others] = alternativesOf(listOf(channel, 'alternatives'))
  const startMs = (numberOf(message, 'start') ?? 0) * 1000
  return {
    type: 'words',
    text: first?.transcript ?? '',
    confidence: first?.confidence ?? 0,
    isFinal: false,
    others,
    language: textOf(channel, 'detected_language') ?? textOf(channel, 'alternatives', 0, 'languages', 0),
    startMs,
    endMs: startMs + (numberOf(message, 'duration') ?? 0) * 1000,
    evt: message,
  }
}
