// The stand-in for Deepgram's live transcription (/v1/listen).
import {
  plain,
  startFront,
  type AudioFormat,
  type Front,
  type FrontOptions,
  type Session,
  type SessionHandlers,
} from './front.ts'
import type { Heard, HeardWord } from './stt-engine.ts'

export interface DeepgramOptions extends FrontOptions {
  readonly path?: string
}

/** Without audio or KeepAlive for so long, the connection is closed (NET-0001). */
const idleMs = 10_000
const encodings = { linear16: 'linear16', mulaw: 'mulaw' } as const
const request_id = '5a0f1c56-7a0e-4d0b-9d0c-2b1f0d9a7c11'

export function startDeepgram(options: DeepgramOptions): Promise<Front> {
  const { key = 'deepgram-key', path = '/v1/listen' } = options
  return startFront(
    {
      name: 'Deepgram',
      path,
      keyFault: ({ headers: { authorization } }) =>
        authorization === `Token ${key}` ? undefined : 'the header authorization is not Token and the key',
      open: (session) => new Listening(session).handlers,
    },
    options,
  )
}

/** Reads a format from a query that says `encoding` and `sample_rate`, as all of Deepgram's do. */
export function formatOf({ query }: Session): AudioFormat | string {
  const encoding = query.get('encoding') ?? ''
  const sampleRate = Number(query.get('sample_rate'))
  if (!(encoding in encodings)) return `the encoding of raw audio is "${encoding}"`
  if (!Number.isInteger(sampleRate) || sampleRate <= 0)
    return `the sample_rate is "${query.get('sample_rate') ?? ''}"`
  return { encoding: encodings[encoding as keyof typeof encodings], sampleRate }
}

export function secondsOf(ms: number): number {
  return Math.round(ms) / 1000
}

class Listening {
  readonly #session: Session
  readonly #endpointing: number | undefined
  readonly #utteranceEndMs: number
  readonly #isPunctuated: boolean
  #lastWordEndMs: number | undefined
  #fromFinalize = false
  #hasFinal = false
  #finalizedAtMs = 0

  constructor(session: Session) {
    this.#session = session
    const { query } = session
    const endpointing = query.get('endpointing')
    this.#endpointing = endpointing === 'false' ? undefined : Number(endpointing ?? 10)
    this.#utteranceEndMs = Number(query.get('utterance_end_ms') ?? 0)
    this.#isPunctuated = query.get('punctuate') === 'true' || query.get('smart_format') === 'true'
    this.#check()
    const format = formatOf(session)
    if (typeof format === 'string') session.breach(format)
    else session.listen(format, (event) => this.#hear(event), this.#silenceMs())
  }

  get handlers(): SessionHandlers {
    return {
      idleMs: this.#session.options.idleMs ?? idleMs,
      text: (message) => this.#text((message as { readonly type?: unknown } | null)?.type),
      audio: (bytes) => {
        if (bytes.length === 0) return this.#close()
        this.#session.audio(bytes)
        this.#utteranceEnd()
      },
    }
  }

  #check(): void {
    const { query } = this.#session
    if (query.get('model') === null) this.#session.breach('no model was named')
    if (Number.isNaN(this.#endpointing)) this.#session.breach('endpointing is neither false nor milliseconds')
    if (this.#utteranceEndMs !== 0 && this.#utteranceEndMs < 1000)
      this.#session.breach(`utterance_end_ms is ${this.#utteranceEndMs}, and 1000 is the least`)
    if (this.#utteranceEndMs !== 0 && query.get('interim_results') !== 'true')
      this.#session.breach('utterance_end_ms was asked for without interim_results')
    if (query.get('model')?.startsWith('nova-3') === true && query.has('keywords'))
      this.#session.breach('nova-3 was given keywords, and has keyterm')
  }

  /** A pause shorter than this is not heard by the stand-in: it would end an utterance between two syllables. */
  #silenceMs(): number {
    return this.#session.options.silenceMs ?? Math.max(200, this.#endpointing ?? 300)
  }

  #text(type: unknown): void {
    const session = this.#session
    if (session.hasEnded) return session.breach(`${String(type)} was sent after CloseStream`)
    if (type === 'KeepAlive') return
    if (type === 'CloseStream') return this.#close()
    if (type !== 'Finalize') return session.breach(`a message of the type ${String(type)} was sent`)
    if (session.audioMs === 0) return session.breach('Finalize was sent before any audio')
    this.#fromFinalize = true
    this.#hasFinal = false
    session.finalize()
    if (!this.#hasFinal) this.#report(nothing('final', this.#finalizedAtMs, session.audioMs))
    this.#fromFinalize = false
  }

  #close(): void {
    const session = this.#session
    session.finalize()
    session.hasEnded = true
    session.send({
      type: 'Metadata',
      transaction_key: 'deprecated',
      request_id,
      sha256: '0'.repeat(64),
      created: new Date().toISOString(),
      duration: secondsOf(session.audioMs),
      channels: 1,
    })
    session.end()
  }

  #hear(event: Heard | { readonly type: 'onset'; readonly startMs: number }): void {
    const { query } = this.#session
    if (event.type === 'onset') {
      if (query.get('vad_events') === 'true')
        this.#session.send({ type: 'SpeechStarted', channel: [0, 1], timestamp: secondsOf(event.startMs) })
    } else if (event.type === 'final' || query.get('interim_results') === 'true') this.#report(event)
  }

  #report(heard: Heard): void {
    const isFinal = heard.type === 'final'
    if (isFinal) {
      this.#hasFinal = true
      this.#finalizedAtMs = this.#session.audioMs
    }
    if (heard.words.length > 0) this.#lastWordEndMs = heard.endMs
    this.#session.report(heard, (one) => ({
      type: 'Results',
      channel_index: [0, 1],
      start: secondsOf(one.startMs),
      duration: secondsOf(one.endMs - one.startMs),
      is_final: isFinal,
      speech_final: isFinal && !this.#fromFinalize && this.#endpointing !== undefined,
      ...(isFinal ? { from_finalize: this.#fromFinalize } : {}),
      channel: { alternatives: [this.#alternative(one)] },
      metadata: { request_id, model_info: { name: 'general', version: '1', arch: 'stand-in' } },
    }))
  }

  #alternative({ text, words, confidence }: Heard) {
    return {
      transcript: this.#isPunctuated ? text : plain(text),
      confidence,
      words: words.map((word) => wordOf(word, this.#isPunctuated)),
    }
  }

  /** Sent when no word was heard for so long after the last one, with finals or without. */
  #utteranceEnd(): void {
    if (this.#utteranceEndMs === 0 || this.#lastWordEndMs === undefined) return
    if (this.#session.audioMs - this.#lastWordEndMs < this.#utteranceEndMs) return
    const last_word_end = secondsOf(this.#lastWordEndMs)
    this.#lastWordEndMs = undefined
    this.#session.send({ type: 'UtteranceEnd', channel: [0, 1], last_word_end }, 'end')
  }
}

export function wordOf({ text, startMs, endMs, confidence }: HeardWord, isPunctuated: boolean) {
  const [start, end] = [secondsOf(startMs), secondsOf(endMs)]
  return { word: plain(text), start, end, confidence, ...(isPunctuated ? { punctuated_word: text } : {}) }
}

export function nothing(type: Heard['type'], startMs: number, endMs: number): Heard {
  return { type, text: '', words: [], confidence: 0, startMs, endMs }
}
