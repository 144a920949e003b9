// Soniox over its WebSocket: tokens instead of sentences, with marks for the end of an utterance.
import { isSet, listOf, memberOf, textOf } from '../../lib/members.ts'
import { readJson } from '../../lib/read-json.ts'
import type { RecognitionOrder } from '../../contracts/recognition.ts'
import { numberOf } from './alternatives.ts'
import type { Dialect, Heard, HeardWords, VendorOfEars } from './dialect.ts'
import { demandKey } from './vendor-options.ts'

const publicAddress = 'wss://stt-rt.soniox.com'
const presetModel = 'stt-rt-v5'
const keepAliveMs = 5000
// A stream ends after 300 minutes.
const maxSessionMs = 290 * 60_000

/** The options, by their name in the first message. */
const parameters: Readonly<Record<string, string>> = {
  languageHints: 'language_hints',
  enableLanguageIdentification: 'enable_language_identification',
  enableSpeakerDiarization: 'enable_speaker_diarization',
  endpointDetection: 'enable_endpoint_detection',
  endpointSensitivity: 'endpoint_sensitivity',
  maxEndpointDelayMs: 'max_endpoint_delay_ms',
  maxNonFinalTokensDurationMs: 'max_non_final_tokens_duration_ms',
  profanityFilter: 'profanity_filter',
  clientRequestReference: 'client_reference_id',
}

export const soniox: VendorOfEars = createSoniox()

export function createSoniox(at: string = publicAddress): VendorOfEars {
  return {
    name: 'soniox',
    dialectOf(order): Dialect {
      const key = demandKey('soniox', order) ?? ''
      const tokens = new Tokens()
      return {
        url: new URL('/transcribe-websocket', at).href,
        headers: { authorization: `Bearer ${key}` },
        rate: order.side.rate,
        first: [JSON.stringify(startOf(order, key))],
        hear: (message) => tokens.hear(readJson(message)),
        rest: () => tokens.rest(),
        keepAlive: { frame: JSON.stringify({ type: 'keepalive' }), everyMs: keepAliveMs },
        finalize: () => JSON.stringify({ type: 'finalize' }),
        // An empty text ends the audio.
        end: () => [''],
        maxSessionMs,
      }
    },
  }
}

function startOf(order: RecognitionOrder, key: string): object {
  const { vendorOptions, language, altLanguages, hints, model, profanityFilter, side } = order
  const languages = [language, ...altLanguages].flatMap((one) => one.split('-')[0] ?? [])
  const start: Record<string, unknown> = {
    // The header has it, too; older installations read it here.
    api_key: key,
    model: textOf(vendorOptions, 'model') ?? model ?? presetModel,
    audio_format: 'pcm_s16le',
    sample_rate: side.rate,
    num_channels: 1,
    enable_endpoint_detection: true,
    ...(language === 'multi' ? {} : { language_hints: [...new Set(languages)] }),
    ...(profanityFilter === undefined ? {} : { profanity_filter: profanityFilter }),
  }
  for (const [option, name] of Object.entries(parameters))
    if (vendorOptions[option] !== undefined) start[name] = vendorOptions[option]
  const context = memberOf(vendorOptions, 'context')
  const terms = [...hints.map(({ phrase }) => phrase), ...listOf(context, 'terms')]
  if (typeof context === 'object' || terms.length > 0)
    start['context'] = {
      ...(typeof context === 'object' ? context : {}),
      ...(terms.length > 0 ? { terms } : {}),
    }
  return start
}

interface Token {
  readonly text: string
  readonly isFinal: boolean
  readonly confidence: number
  readonly startMs: number | undefined
  readonly endMs: number | undefined
  readonly language: string | undefined
}

/** Gathers final tokens up to the mark of an end. Tokens that may still change are replaced by each message. */
class Tokens {
  #final: Token[] = []

  hear(message: unknown): readonly Heard[] {
    const because = textOf(message, 'error_message')
    const code = numberOf(message, 'error_code')
    if (because !== undefined || code !== undefined)
      return [{ type: 'failed', because: because ?? `error ${code}`, isFinal: isFinalCode(code) }]
    const heard: Heard[] = []
    const open: Token[] = []
    for (const token of listOf(message, 'tokens').map(tokenOf)) {
      if (token.text === '<end>' || token.text === '<fin>') heard.push(...this.#end(message))
      else if (token.isFinal) this.#final.push(token)
      else open.push(token)
    }
    if (open.length + this.#final.length > 0) heard.push(this.#words(open, message))
    if (isSet(message, 'finished')) heard.push(...this.#end(message), { type: 'done' })
    return heard
  }

  rest(): HeardWords | undefined {
    const [words] = this.#end(undefined)
    return words
  }

  #end(message: unknown): readonly HeardWords[] {
    if (this.#final.length === 0) return []
    const words = { ...this.#words([], message), isFinal: true }
    this.#final = []
    return [{ ...words, ofVendor: { ...words.ofVendor, endpointReached: true } }]
  }

  #words(open: readonly Token[], evt: unknown): HeardWords {
    const all = [...this.#final, ...open]
    const textOfAll = (tokens: readonly Token[]): string => tokens.map(({ text }) => text).join('')
    return {
      type: 'words',
      text: textOfAll(all).trim(),
      isFinal: false,
      confidence: all.reduce((sum, { confidence }) => sum + confidence, 0) / Math.max(1, all.length),
      language: all.find(({ language }) => language !== undefined)?.language,
      startMs: all[0]?.startMs,
      endMs: all.at(-1)?.endMs,
      ofVendor: {
        endpointReached: false,
        finalWords: textOfAll(this.#final).trim(),
        nonFinalWords: textOfAll(open).trim(),
      },
      evt,
    }
  }
}

function tokenOf(token: unknown): Token {
  return {
    text: textOf(token, 'text') ?? '',
    isFinal: memberOf(token, 'is_final') === true,
    confidence: numberOf(token, 'confidence') ?? 0,
    startMs: numberOf(token, 'start_ms'),
    endMs: numberOf(token, 'end_ms'),
    language: textOf(token, 'language'),
  }
}

/** The codes are those of HTTP: 408 is a stream without audio, 503 one that must be continued by another. */
function isFinalCode(code: number | undefined): boolean {
  return code !== undefined && code >= 400 && code < 500 && code !== 408
}
