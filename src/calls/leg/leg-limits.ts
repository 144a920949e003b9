// How long a leg may ring and last, and how long its far end may be silent: past each of these it is hung up on.
import type { Clock, Timer } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import type { MediaEvent } from '../../media/media.ts'
import { toDecision } from '../journal/decision.ts'
import type { JournalWriter } from '../journal/journal-writer.ts'
import type { LegMedia } from './leg-media.ts'
import type { HangUpOptions } from './leg-options.ts'
import { toRefusal } from './refusals.ts'
import type { UnansweredInvite } from './unanswered-invite.ts'

export interface LegLimitsOptions {
  readonly clock: Clock
  readonly journal: JournalWriter
  readonly media: Pick<LegMedia, 'noteSilence'>
  /** Until the answer. */
  readonly limit: UnansweredInvite['limit']
  /** From the answer on. */
  readonly maxCallMs: number
  readonly hangUp: (options: HangUpOptions) => void
}

export class LegLimits {
  readonly #options: LegLimitsOptions
  #timer: Timer
  #answeredMs: number | undefined

  constructor(options: LegLimitsOptions) {
    this.#options = options
    const { ms, reason } = options.limit
    this.#timer = this.#hangUpAfter(ms, reason)
  }

  answered(): void {
    const { clock, maxCallMs } = this.#options
    this.#answeredMs = clock.monotonic()
    this.#timer.cancel()
    this.#timer = this.#hangUpAfter(maxCallMs, 'Max Call Duration')
  }

  /** In whole seconds from the answer until now; without one there is none. */
  get lasted(): { readonly duration?: number } {
    const since = this.#answeredMs
    return since === undefined
      ? {}
      : { duration: Math.floor((this.#options.clock.monotonic() - since) / 1000) }
  }

  /** Nothing has come. Before the answer a far end need not send: silence counts from there. */
  silent(event: MediaEvent & { type: 'timeout' }): void {
    const { clock, journal, media } = this.#options
    const since = this.#answeredMs
    if (since === undefined || clock.monotonic() - since < event.limitMs) return
    const because = media.noteSilence(event)
    // Held for too long is a limit that was reached, and no failure.
    if (event.cause === 'held') return this.#hangUp('Hold Timeout', 'hold timeout')
    const { fact } = toRefusal(new AppError('media_timeout', because))
    journal.add(fact)
    this.#hangUp('Media Timeout', 'media timeout')
  }

  close(): void {
    this.#timer.cancel()
  }

  #hangUpAfter(ms: number, reason: string): Timer {
    return this.#options.clock.after(ms, () => this.#hangUp(reason))
  }

  #hangUp(reason: string, recorded?: string): void {
    this.#options.journal.note(toDecision({ rule: 'time-limit', outcome: reason }))
    this.#options.hangUp({ reason, recorded })
  }
}
