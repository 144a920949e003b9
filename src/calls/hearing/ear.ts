// One side of a call, heard by a recogniser: the ring between media and the thread of streams, the journal, and the second
// recogniser when the first has failed.
import type {
  Recognition,
  RecognitionEnd,
  RecognitionEvent,
  Recognising,
  SpeechResult,
} from '../../contracts/recognition.ts'
import type { StreamMode } from '../../contracts/audio-stream.ts'
import { createRing } from '../../lib/audio/audio-ring.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import { actingFor } from '../../lib/acting-for.ts'
import { toAppError } from '../journal/refusals.ts'
import type { Leg } from '../leg/leg.ts'
import { noteProblem } from '../leg/note-problem.ts'
import type { HeardDetails } from '../verb/recognition.ts'
import { vendorOptionsOf, type RecogniserChoice, type RecogniserName } from './choose-recogniser.ts'
import { transcriptOf } from './words.ts'

export interface EarOptions {
  /** The name in the journal: `gather`, `transcribe`, ... */
  readonly name: string
  /** The leg whose journal, account and verbs it belongs to. */
  readonly leg: Leg
  /** The leg that is heard: by default `leg`. */
  readonly on?: Leg
  readonly channel?: 1 | 2
  readonly choice: RecogniserChoice
  readonly recognition: Recognition
  readonly clock: Clock
  readonly wantsPartials: boolean
  /** Whether the second recogniser is used from the start, as the first has failed in this call. */
  readonly usesFallback: boolean
  readonly onHeard: (speech: SpeechResult, details: HeardDetails) => void
  readonly onVendorEvent?: (event: object) => void
  /** Called with the failure of a recogniser. */
  readonly onProblem: (error: AppError, hasFallback: boolean) => void
  /** Called when the second recogniser takes over. */
  readonly onFallback: () => void
  /** Called once, when no recogniser is left. */
  readonly onFailed: (error: AppError) => void
}

const frameMs = 20
const telephoneRate = 8000
// Three seconds: the time in which the thread of streams starts.
const frames = 150

export class Ear {
  /** Resolves when the last words have come, or no recogniser is left. Never rejects. */
  readonly ended: Promise<void>
  readonly #options: EarOptions
  readonly #resolve: () => void
  readonly #stop = (): void => this.close()
  #running: Recognising | undefined
  #mode: StreamMode = 'on'
  #hasFallenBack: boolean
  #isClosed = false
  #hasEnded = false

  constructor(options: EarOptions) {
    this.#options = options
    this.#hasFallenBack = options.usesFallback && options.choice.fallback !== undefined
    const { promise, resolve } = Promise.withResolvers<void>()
    this.ended = promise
    this.#resolve = resolve
    for (const { signal } of this.#legs) {
      signal.addEventListener('abort', this.#stop, { once: true })
      if (signal.aborted) this.#isClosed = true
    }
    if (options.choice.note !== undefined)
      options.leg.journal.note({ type: 'note', sentence: options.choice.note })
    if (this.#isClosed) this.#end()
    else void this.#open()
  }

  setMode(mode: StreamMode): void {
    this.#mode = mode
    this.#running?.setMode(mode)
  }

  /** Asks for a final of what was said so far. */
  finalize(): void {
    this.#running?.finalize()
  }

  /** Closes. `ended` resolves when the last words have come. Idempotent. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#running?.close()
  }

  get #legs(): ReadonlySet<Leg> {
    const { leg, on = leg } = this.#options
    return new Set([leg, on])
  }

  async #open(): Promise<void> {
    const { leg, on = leg, name, choice, recognition, channel = 1, wantsPartials } = this.#options
    const chosen = this.#hasFallenBack ? (choice.fallback ?? choice.first) : choice.first
    const ring = createRing({ samples: (telephoneRate / 1000) * frameMs, frames })
    const thread = `${name}:${ring.id}`
    const { account_sid } = leg.journal.facts.started
    const sinceMs = this.#options.clock.now()
    try {
      // Before the recogniser is there, so that nothing that is said meanwhile is lost.
      on.media.sound
        .join(thread, { taps: [{ of: 'in', rate: telephoneRate, ring }] })
        .catch((error: unknown) => noteProblem(leg, error))
      const running = await actingFor(account_sid, () =>
        recognition.begin(
          {
            ...choice.wishes,
            account_sid,
            ...chosen,
            vendorOptions: vendorOptionsOf(chosen.vendor, choice.form),
            wantsPartials,
            side: { ring, rate: telephoneRate, channel },
          },
          (event) => this.#follow(event, chosen, { thread, sinceMs }),
        ),
      )
      this.#running = running
      if (this.#mode !== 'on') running.setMode(this.#mode)
      if (this.#isClosed) running.close()
    } catch (error) {
      on.media.sound.part(thread)
      this.#lose(toAppError(error, leg.log))
    }
  }

  #follow(
    event: RecognitionEvent,
    { vendor, language }: RecogniserName,
    { thread, sinceMs }: { readonly thread: string; readonly sinceMs: number },
  ): void {
    const { leg, on = leg, name: recogniser, channel = 1 } = this.#options
    const { journal } = leg
    switch (event.type) {
      case 'opened': {
        const { after_ms } = event
        return journal.note({ type: 'recognition-started', recogniser, vendor, language, channel, after_ms })
      }
      case 'heard': {
        const { result, span, turn, latency_ms } = event
        if (result.is_final && transcriptOf(result) !== '')
          journal.note({
            type: 'heard',
            recogniser,
            vendor,
            language: result.language_code,
            channel,
            transcript: transcriptOf(result),
            confidence: result.alternatives[0]?.confidence ?? 0,
            ...(span && {
              said_at: Math.round(sinceMs + span.startMs),
              duration_ms: Math.round(span.endMs - span.startMs),
            }),
            ...(latency_ms === undefined ? {} : { latency_ms }),
          })
        return this.#options.onHeard(result, { turn, latency_ms })
      }
      case 'vendor':
        return this.#options.onVendorEvent?.(event.event)
      case 'reconnecting':
        return journal.note({ type: 'recognition-reconnecting', recogniser, vendor, because: event.because })
      case 'ended': {
        on.media.sound.part(thread)
        this.#running = undefined
        journal.note({ type: 'recognition-ended', recogniser, vendor, ...event.end })
        return this.#vendorEnded(event.end)
      }
      default:
        return event satisfies never
    }
  }

  #vendorEnded({ by, because }: RecognitionEnd): void {
    if (by === 'closed' || this.#isClosed) this.#end()
    else this.#lose(new AppError('recognition_failed', because))
  }

  #lose(error: AppError): void {
    const { leg, choice } = this.#options
    if (this.#isClosed) return this.#end()
    const hasFallback = choice.fallback !== undefined && !this.#hasFallenBack
    if (!leg.hasEnded) this.#options.onProblem(error, hasFallback)
    if (hasFallback) {
      this.#hasFallenBack = true
      this.#options.onFallback()
      return void this.#open()
    }
    this.#isClosed = true
    this.#options.onFailed(error)
    this.#end()
  }

  #end(): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    for (const { signal } of this.#legs) signal.removeEventListener('abort', this.#stop)
    this.#resolve()
  }
}
