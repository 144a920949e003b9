// The longest times that a leg may ring and last, and that its far end may be silent. Beyond each the leg is hung up.
import type { Clock, Timer } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import type { MediaEvent } from '../../media/media.ts'
import { toDecision } from '../journal/decision.ts'
import { hangUpFor, type EndingLeg } from './hang-up-for.ts'
import type { LegMedia } from './leg-media.ts'
import { timerExpired } from '../journal/refusals.ts'
import { maxCallDuration, type UnansweredInvite } from './unanswered-invite.ts'

export interface LegLimitsOptions {
  readonly clock: Clock
  readonly leg: EndingLeg
  readonly media: Pick<LegMedia, 'noteSilence'>
  /** The limit until the answer. */
  readonly limit: UnansweredInvite['limit']
  /** The limit from the answer on. */
  readonly maxCallMs: number
}

export class LegLimits {
  readonly #options: LegLimitsOptions
  #timer: Timer
  #answeredMs: number | undefined

  constructor(options: LegLimitsOptions) {
    this.#options = options
    const { ms, reason } = options.limit
    this.#timer = options.clock.after(ms, () => this.#expire(reason))
  }

  answered(): void {
    const { clock, maxCallMs } = this.#options
    this.#answeredMs = clock.monotonic()
    this.#timer.cancel()
    this.#timer = clock.after(maxCallMs, () => this.#expire(maxCallDuration))
  }

  /** The whole seconds from the answer until now; empty without an answer. */
  get lasted(): { readonly duration?: number } {
    const since = this.#answeredMs
    return since === undefined
      ? {}
      : { duration: Math.floor((this.#options.clock.monotonic() - since) / 1000) }
  }

  /** Ends the leg if its far end is silent. Silence counts from the answer, since a far end need not send before it. */
  silent(event: MediaEvent & { type: 'timeout' }): void {
    const { clock, media } = this.#options
    const since = this.#answeredMs
    if (since === undefined || clock.monotonic() - since < event.limitMs) return
    const because = media.noteSilence(event)
    if (event.cause === 'held')
      this.#hangUpFor(new AppError('hold_timeout', because), 'Hold Timeout', 'hold timeout')
    else if (event.cause === 'gone')
      this.#hangUpFor(new AppError('media_path_lost', because), 'Media Timeout', `failed: ${because}`)
    else this.#hangUpFor(new AppError('media_timeout', because), 'Media Timeout', 'media timeout')
  }

  close(): void {
    this.#timer.cancel()
  }

  #expire(reason: string): void {
    if (reason === maxCallDuration)
      return this.#hangUpFor(new AppError('call_duration_limit', 'the call lasted as long as it may'), reason)
    // A called party that does not answer is a normal outcome.
    this.#note(reason)
    void this.#options.leg.hangUp({ reason, headers: [timerExpired(reason)] })
  }

  #hangUpFor(error: AppError, reason: string, recorded?: string): void {
    this.#note(reason)
    void hangUpFor(this.#options.leg, error, { reason, recorded })
  }

  #note(reason: string): void {
    this.#options.leg.journal.note(toDecision({ rule: 'time-limit', outcome: reason }))
  }
}
