// OpenAI's dialect, which many servers speak: transcription over its realtime WebSocket, and of whole utterances over REST
// for models and servers without that. `whisper` is the older name of the vendor, with utterances only.
import { AppError } from '../../lib/errors.ts'
import { listOf, memberOf, textOf } from '../../lib/members.ts'
import { readJson } from '../../lib/read-json.ts'
import { toUpload } from '../../outgoing/upload.ts'
import type { RecognitionOrder } from '../../contracts/recognition.ts'
import { numberOf } from './alternatives.ts'
import type { Dialect, Heard, HeardWords, Post, VendorOfEars } from './dialect.ts'

const publicAddress = 'https://api.openai.com/v1'
const presetModel = 'gpt-4o-mini-transcribe'
/** The models of the realtime interface. */
const realtime = /realtime|live|^gpt-4o(-mini)?-transcribe(-\d.*)?$/
const rate = 24_000
// A session ends after an hour.
const maxSessionMs = 58 * 60_000
const presetSilenceMs = 500

export const openai: VendorOfEars = createOpenAi('openai')
export const whisper: VendorOfEars = createOpenAi('whisper')

export function createOpenAi(name: 'openai' | 'whisper', at: string = publicAddress): VendorOfEars {
  return {
    name,
    postOf: (order) => (isPosted(name, order) ? postOf(name, order, at) : undefined),
    dialectOf(order): Dialect {
      const base = baseOf(order)
      const url = new URL(withPath(base ?? at, 'realtime').replace(/^http/i, 'ws'))
      url.searchParams.set('intent', 'transcription')
      // OpenAI itself refuses a model here, and gateways need one.
      if (base !== undefined) url.searchParams.set('model', modelOf(order))
      const items = new Items()
      return {
        url: url.href,
        headers: keyHeader(name, order),
        rate,
        first: [JSON.stringify({ type: 'session.update', session: sessionOf(order) })],
        encode: (octets) =>
          JSON.stringify({
            type: 'input_audio_buffer.append',
            audio: Buffer.from(octets).toString('base64'),
          }),
        hear: (message) => items.hear(readJson(message)),
        finalize: () => commit,
        end: () => {
          items.isEnding = true
          return [commit]
        },
        maxSessionMs,
      }
    },
  }
}

const commit = JSON.stringify({ type: 'input_audio_buffer.commit' })

/** Returns the address of the verb or the credential. */
function baseOf({ settings, vendorOptions }: RecognitionOrder): string | undefined {
  return (
    textOf(vendorOptions, 'baseUrl') ??
    textOf(vendorOptions, 'baseURL') ??
    textOf(vendorOptions, 'uri') ??
    textOf(settings, 'api_uri')
  )
}

function modelOf({ settings, vendorOptions, model }: RecognitionOrder): string {
  const own = textOf(settings, 'model_id')
  const ofCredential = own === undefined || /tts/.test(own) ? undefined : own
  return textOf(vendorOptions, 'model') ?? model ?? ofCredential ?? presetModel
}

function isPosted(name: 'openai' | 'whisper', order: RecognitionOrder): boolean {
  const base = baseOf(order)
  if (base !== undefined) return !/^wss?:/i.test(base)
  return name === 'whisper' || !realtime.test(modelOf(order))
}

/** Returns the header of the key, which a server of the operator's own may not need. */
function keyHeader(name: string, order: RecognitionOrder): Readonly<Record<string, string>> {
  const key = textOf(order.vendorOptions, 'apiKey') ?? textOf(order.settings, 'api_key')
  if (key === undefined && baseOf(order) === undefined)
    throw new AppError('recognizer_unknown', `the credential of ${name} has no api_key`)
  return key === undefined ? {} : { authorization: `Bearer ${key}` }
}

/** Returns an address with the path of a resource. The base may end with the version, the resource or neither. */
function withPath(base: string, path: string): string {
  const bare = /^[a-z]+:\/\//i.test(base) ? base : `http://${base}`
  const url = URL.parse(bare.replace(/^ws/i, 'http'))
  // The client refuses it, with the sentence that each malformed URL gets.
  if (url === null) return bare
  const trimmed = url.pathname.replace(/\/+$/, '')
  if (!trimmed.endsWith(`/${path}`)) url.pathname = `${trimmed === '' ? '/v1' : trimmed}/${path}`
  return /^ws/i.test(bare) ? url.href.replace(/^http/, 'ws') : url.href
}

function languageOf({ vendorOptions, language }: RecognitionOrder): string | undefined {
  const wished = textOf(vendorOptions, 'language') ?? language
  return wished === 'multi' ? undefined : wished.split('-')[0]
}

/** Returns the prompt: that of the options, and the hints, which are words to expect. */
function promptOf({ vendorOptions, hints }: RecognitionOrder): string | undefined {
  const template = textOf(vendorOptions, 'promptTemplates', 'hintsTemplate') ?? '{{hints}}'
  const phrases = [...hints.map(({ phrase }) => phrase), ...listOf(vendorOptions, 'keywords')]
  const ofHints = phrases.length === 0 ? '' : template.replaceAll('{{hints}}', () => phrases.join(', '))
  const prompt = [textOf(vendorOptions, 'prompt') ?? '', ofHints].filter((one) => one !== '').join('\n')
  return prompt === '' ? undefined : prompt
}

function postOf(name: string, order: RecognitionOrder, at: string): Post {
  const url = withPath(baseOf(order) ?? at, 'audio/transcriptions')
  const key = keyHeader(name, order)
  const language = languageOf(order)
  const prompt = promptOf(order)
  const fields = {
    model: modelOf(order),
    response_format: 'json',
    ...(language === undefined ? {} : { language }),
    ...(prompt === undefined ? {} : { prompt }),
  }
  return {
    async requestOf(utterance) {
      const { contentType, body } = await toUpload(utterance, fields)
      return { url, headers: { ...key, 'content-type': contentType }, body }
    },
    hear(body): HeardWords {
      const message = readJson(body)
      const text = textOf(message, 'text')?.trim() ?? ''
      return { type: 'words', text, isFinal: true, confidence: 0, evt: message }
    },
    endMs: boundOf(order, 'vadSilenceMs', 300, 5000),
    onsetMs: boundOf(order, 'vadVoiceMs', 20, 1000),
  }
}

function boundOf({ vendorOptions }: RecognitionOrder, option: string, least: number, most: number) {
  const ms = numberOf(vendorOptions, option)
  return ms === undefined ? undefined : Math.min(most, Math.max(least, ms))
}

function sessionOf(order: RecognitionOrder): object {
  const { vendorOptions } = order
  const prompt = promptOf(order)
  const language = languageOf(order)
  const noise = textOf(vendorOptions, 'input_audio_noise_reduction')
  return {
    type: 'transcription',
    audio: {
      input: {
        format: { type: 'audio/pcm', rate },
        transcription: {
          model: modelOf(order),
          ...(language === undefined ? {} : { language }),
          ...(prompt === undefined ? {} : { prompt }),
        },
        turn_detection: detectionOf(vendorOptions),
        ...(noise === undefined ? {} : { noise_reduction: { type: noise } }),
      },
    },
  }
}

function detectionOf(vendorOptions: RecognitionOrder['vendorOptions']): object | null {
  const wished = memberOf(vendorOptions, 'turn_detection')
  if (textOf(wished, 'type') === 'none') return null
  if (typeof wished === 'object' && wished !== null) return wished
  return { type: 'server_vad', silence_duration_ms: presetSilenceMs }
}

interface Item {
  readonly id: string
  text: string
  startMs?: number | undefined
  endMs?: number | undefined
  /** The message that completed it. */
  done?: unknown
}

/** An item that never completes holds back at most this number of others. */
const maxHeldBack = 2

/** The utterances of a session. They complete in any order, and are reported in the order in which they were said. */
class Items {
  /** True once no further audio comes. */
  isEnding = false
  readonly #items: Item[] = []

  hear(message: unknown): readonly Heard[] {
    const type = textOf(message, 'type') ?? ''
    const id = textOf(message, 'item_id')
    switch (type) {
      case 'input_audio_buffer.speech_started':
        this.#note(id, { startMs: numberOf(message, 'audio_start_ms') })
        return [{ type: 'event', event: { ...(message as object), type } }]
      case 'input_audio_buffer.speech_stopped':
        this.#note(id, { endMs: numberOf(message, 'audio_end_ms') })
        return []
      case 'input_audio_buffer.committed':
        this.#note(id, {})
        return []
      case 'conversation.item.input_audio_transcription.delta':
        return this.#delta(id, message)
      case 'conversation.item.input_audio_transcription.completed':
        this.#note(id, { text: textOf(message, 'transcript') ?? '', done: message })
        return this.#ready()
      case 'conversation.item.input_audio_transcription.failed':
        this.#note(id, { text: '', done: message })
        return this.#ready()
      case 'error':
        return this.#failed(message)
      default:
        return []
    }
  }

  #note(id: string | undefined, noted: Partial<Item>): Item | undefined {
    if (id === undefined) return undefined
    let item = this.#items.find((one) => one.id === id)
    if (item === undefined) {
      item = { id, text: '' }
      this.#items.push(item)
    }
    for (const [name, value] of Object.entries(noted))
      if (value !== undefined) Object.assign(item, { [name]: value })
    return item
  }

  #delta(id: string | undefined, message: unknown): readonly Heard[] {
    const item = this.#note(id, {})
    if (item === undefined) return []
    item.text += textOf(message, 'delta') ?? ''
    return item === this.#items[0] ? [wordsOf(item, false, message)] : []
  }

  /** Returns the items that have completed, up to the first that has not. */
  #ready(): readonly Heard[] {
    const heard: Heard[] = []
    const isHeldBack = (): boolean =>
      this.#items.filter(({ done }) => done !== undefined).length > maxHeldBack
    for (let [item] = this.#items; item !== undefined; [item] = this.#items) {
      if (item.done === undefined && !isHeldBack()) break
      this.#items.shift()
      heard.push(wordsOf(item, true, item.done))
    }
    if (this.isEnding && this.#items.length === 0) heard.push({ type: 'done' })
    return heard
  }

  #failed(message: unknown): readonly Heard[] {
    const code = textOf(message, 'error', 'code') ?? ''
    const type = textOf(message, 'error', 'type') ?? ''
    // There was nothing to commit.
    if (code === 'input_audio_buffer_commit_empty') return this.isEnding ? this.#ready() : []
    const because = textOf(message, 'error', 'message') ?? (code === '' ? 'an error' : code)
    const isFinal = code !== 'session_expired' && /invalid|auth|quota|permission/.test(`${type} ${code}`)
    return [{ type: 'failed', because, isFinal }]
  }
}

function wordsOf({ text, startMs, endMs }: Item, isFinal: boolean, evt: unknown): HeardWords {
  return { type: 'words', text: text.trim(), isFinal, confidence: 0, startMs, endMs, evt }
}
