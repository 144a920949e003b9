// A recogniser for vendors that hear whole utterances over HTTP, in the thread of streams. It cuts the audio where the
// caller pauses, and posts one utterance after the other. There are no partials.
import { AppError } from '../../lib/errors.ts'
import { UnreadableJson } from '../../lib/read-json.ts'
import type { ResamplerTables } from '../../lib/audio/resampler.ts'
import type { Outgoing } from '../../outgoing/outgoing.ts'
import { vendorRefusal } from '../../outgoing/vendor-failure.ts'
import type { RecognitionEnd, RecognitionEvent, RecognitionOrder } from '../../contracts/recognition.ts'
import type { StreamMode } from '../../contracts/audio-stream.ts'
import { Given } from '../given.ts'
import type { HeardWords, Post } from './dialect.ts'
import { Loudness } from './loudness.ts'
import { toResult } from './result.ts'
import { withoutSecrets } from './secrets.ts'
import { frameMs } from './sent-audio.ts'

/** The voice that begins an utterance. */
const usualOnsetMs = 60
/** The silence that ends one. */
const usualEndMs = 600
/** The least voice of an utterance. A shorter sound is a click or a breath, in which models find words that were not said. */
const minVoiceMs = 120
/** The audio before the onset that belongs to it: a voice begins softly. */
const leadMs = 300
const maxUtteranceMs = 30_000
/** The audio that waits for its turn. A vendor that falls behind further is too slow for a call. */
const maxWaitingMs = 60_000
/** The time before each further request for an utterance. */
const againAfterMs = [0, 250, 1000]
const answerTimeoutMs = 20_000
const totalTimeoutMs = 25_000
const maxBodyBytes = 256 * 1024
/** The time for the last words after the end. */
const lastFinalMs = 1500

export interface UtteranceRecogniserOptions {
  /** The name of the vendor in sentences. */
  readonly name: string
  /** Throws AppError recognizer_unknown. */
  readonly postOf: (order: RecognitionOrder) => Post | undefined
  readonly outgoing: Outgoing
  readonly tables: ResamplerTables
  readonly onEvent: (event: RecognitionEvent) => void
  readonly nowMs?: () => number
}

interface Cut {
  readonly frames: readonly Uint8Array[]
  /** Milliseconds of the ring. */
  readonly startMs: number
  readonly endMs: number
  /** The thread's clock at the end of the voice. */
  readonly voicedMs: number
}

interface Running {
  readonly frames: Uint8Array[]
  readonly startMs: number
}

export class UtteranceRecogniser {
  readonly #order: RecognitionOrder
  readonly #options: UtteranceRecogniserOptions
  readonly #nowMs: () => number
  readonly #leaving = new AbortController()
  readonly #loudness = new Loudness()
  readonly #beganMs: number
  #post: Post | undefined
  #given: Given | undefined
  #mode: StreamMode = 'on'
  /** Milliseconds of the ring so far. */
  #atMs = 0
  /** The frames before a voice begins. */
  #lead: Uint8Array[] = []
  #onsetMs = 0
  #running: Running | undefined
  #silentMs = 0
  #voiceMs = 0
  #voicedMs: number
  #queue: Cut[] = []
  #isPosting = false
  #again: NodeJS.Timeout | undefined
  #closing: NodeJS.Timeout | undefined
  #isClosing = false
  #hasEnded = false
  #audioMs = 0
  #postingMs = 0

  constructor(order: RecognitionOrder, options: UtteranceRecogniserOptions) {
    this.#order = order
    this.#options = options
    this.#nowMs = options.nowMs ?? (() => performance.now())
    this.#beganMs = this.#nowMs()
    this.#voicedMs = this.#beganMs
  }

  open(): void {
    const { side } = this.#order
    try {
      this.#post = this.#options.postOf(this.#order)
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      const because = error.message
      return queueMicrotask(() => this.#end({ by: 'failed', because }))
    }
    this.#given = new Given({ given: side.ring, rate: side.rate, channels: 1 }, this.#options.tables)
    this.#options.onEvent({ type: 'opened', after_ms: 0 })
  }

  setMode(mode: StreamMode): void {
    if (mode === 'paused' && this.#mode !== 'paused') this.finalize()
    this.#mode = mode
  }

  finalize(): void {
    this.#take()
    this.#cut()
  }

  close(): void {
    if (this.#isClosing || this.#hasEnded) return
    this.finalize()
    this.#isClosing = true
    if (!this.#isPosting) return this.#endClosed()
    this.#closing = setTimeout(() => this.#endClosed(), lastFinalMs)
  }

  /** Ends at once, as the thread does. */
  cut(): void {
    this.#hasEnded = true
    clearTimeout(this.#again)
    clearTimeout(this.#closing)
    this.#leaving.abort(new Error('closed'))
  }

  beat(): void {
    if (!this.#isClosing && !this.#hasEnded) this.#take()
  }

  #take(): void {
    const given = this.#given
    while (given?.take() === true && !this.#hasEnded) {
      this.#atMs += frameMs
      if (this.#mode === 'paused') this.#forget()
      else this.#hear(given.octets(this.#mode === 'silent'))
    }
  }

  #hear(frame: Uint8Array): void {
    const isVoiced = this.#loudness.isVoiced(frame)
    if (isVoiced) this.#voicedMs = this.#nowMs()
    if (this.#running === undefined) return this.#wait(frame, isVoiced)
    this.#running.frames.push(frame)
    this.#silentMs = isVoiced ? 0 : this.#silentMs + frameMs
    if (isVoiced) this.#voiceMs += frameMs
    const { endMs = usualEndMs } = this.#post ?? {}
    const isLong = this.#running.frames.length * frameMs >= maxUtteranceMs
    if (this.#silentMs >= endMs || isLong) this.#cut()
  }

  /** Keeps the last frames until a voice has begun. */
  #wait(frame: Uint8Array, isVoiced: boolean): void {
    this.#lead.push(frame)
    this.#onsetMs = isVoiced ? this.#onsetMs + frameMs : 0
    const { onsetMs = usualOnsetMs } = this.#post ?? {}
    if (this.#lead.length * frameMs > leadMs + onsetMs) this.#lead.shift()
    if (this.#onsetMs < onsetMs) return
    this.#running = { frames: this.#lead, startMs: this.#atMs - this.#lead.length * frameMs }
    this.#voiceMs = this.#onsetMs
    this.#forget()
  }

  #forget(): void {
    this.#lead = []
    this.#onsetMs = 0
    this.#silentMs = 0
  }

  /** Ends the utterance that runs. */
  #cut(): void {
    const running = this.#running
    if (running === undefined) return
    this.#running = undefined
    const { frames, startMs } = running
    const endMs = startMs + frames.length * frameMs - this.#silentMs
    this.#forget()
    if (this.#voiceMs < minVoiceMs) return
    this.#queue.push({ frames, startMs, endMs, voicedMs: this.#voicedMs })
    const waitingMs = this.#queue.reduce((sum, one) => sum + one.frames.length * frameMs, 0)
    if (waitingMs > maxWaitingMs)
      return this.#end({ by: 'failed', because: `${this.#options.name} is slower than the caller speaks` })
    if (!this.#isPosting) void this.#postAll()
  }

  async #postAll(): Promise<void> {
    this.#isPosting = true
    for (let cut = this.#queue[0]; cut !== undefined && !this.#hasEnded; cut = this.#queue[0]) {
      const words = await this.#ask(cut)
      this.#queue.shift()
      if (words === undefined || this.#hasEnded) break
      this.#report(words, cut)
    }
    this.#isPosting = false
    if (this.#isClosing) this.#endClosed()
  }

  /** Returns undefined if the recogniser has ended. */
  async #ask(cut: Cut): Promise<HeardWords | undefined> {
    for (let failures = 0; ; failures += 1) {
      const startMs = this.#nowMs()
      const outcome = await this.#request(cut).catch((error: unknown) => this.#failureOf(error))
      this.#postingMs += this.#nowMs() - startMs
      if (this.#hasEnded) return undefined
      if (!('because' in outcome)) return outcome
      const waitMs = againAfterMs[failures]
      const because = withoutSecrets(outcome.because, this.#order)
      if (outcome.isFinal || waitMs === undefined) {
        if (this.#isClosing) this.#endClosed()
        else this.#end({ by: 'failed', because })
        return undefined
      }
      this.#options.onEvent({ type: 'reconnecting', because })
      await new Promise<void>((resolve) => {
        this.#again = setTimeout(resolve, waitMs)
      })
    }
  }

  async #request({ frames }: Cut): Promise<HeardWords | Failure> {
    const { name, outgoing } = this.#options
    if (this.#post === undefined) throw new Error('not open')
    const { url, headers, body } = await this.#post.requestOf({
      sampleRate: this.#order.side.rate,
      bytes: Buffer.concat(frames),
    })
    const answer = await outgoing.request({
      method: 'POST',
      url,
      subject: name,
      answerTimeoutMs,
      totalTimeoutMs,
      maxBodyBytes,
      signal: this.#leaving.signal,
      ...(headers === undefined ? {} : { headers }),
      ...(body === undefined ? {} : { body }),
    })
    const { status } = answer
    if (status === 200) {
      this.#audioMs += frames.length * frameMs
      return this.#post.hear(answer.body)
    }
    const contentType = String(answer.headers['content-type'] ?? '').toLowerCase()
    const refusal = { vendor: name, status, contentType, body: answer.body, secrets: [] }
    return {
      because: vendorRefusal('speech_failed', refusal).message,
      isFinal: status >= 400 && status < 500,
    }
  }

  #failureOf(error: unknown): Failure {
    const { name } = this.#options
    if (error instanceof UnreadableJson)
      return { because: `${name} sent a response that ${error.message}`, isFinal: false }
    if (error instanceof AppError) return { because: error.message, isFinal: !passing.includes(error.code) }
    if (this.#hasEnded) return { because: 'closed', isFinal: true }
    throw error
  }

  #report(words: HeardWords, { startMs, endMs, voicedMs }: Cut): void {
    if (words.text.trim() === '') return
    this.#options.onEvent({
      type: 'heard',
      result: toResult(words, this.#order),
      span: { startMs, endMs },
      latency_ms: Math.max(0, Math.round(this.#nowMs() - voicedMs)),
    })
  }

  #endClosed(): void {
    this.#end({ by: 'closed', because: 'the platform ended it' })
  }

  #end(end: Pick<RecognitionEnd, 'by' | 'because'>): void {
    if (this.#hasEnded) return
    this.cut()
    this.#queue = []
    this.#options.onEvent({
      type: 'ended',
      end: { ...end, audio_ms: this.#audioMs, socket_ms: Math.round(this.#postingMs) },
    })
  }
}

interface Failure {
  readonly because: string
  readonly isFinal: boolean
}

/** The codes of failures that may pass. */
const passing: readonly string[] = ['hook_unreachable', 'hook_timeout', 'overloaded']
