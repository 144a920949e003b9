// The session timer of one dialog: a far end that is lost without a BYE is detected by the missing refresh (RFC 4028).
import type { Clock, Timer } from '../../lib/clock.ts'
import { sessionLimits } from '../limits.ts'
import type { HeaderField, SipMessage, SipRequest, SipResponse } from '../message/message.ts'
import {
  minSeField,
  minSeOf,
  sessionExpiresField,
  sessionExpiresOf,
  supports,
} from '../message/session-expires.ts'
import { refusal } from '../refusal.ts'
import type { Owed } from '../message/reply.ts'

export interface SessionTimerOptions {
  readonly clock: Clock
  /** Sends a refresh request; resolves once it has a response. A 2xx restarts the interval through `confirmed`. */
  readonly refresh: () => Promise<unknown>
  /** Called when no refresh came in time. */
  readonly expired: () => void
}

interface Interval {
  readonly seconds: number
  readonly isOurs: boolean
}

export class SessionTimer {
  readonly #options: SessionTimerOptions
  /** Undefined while no timer runs. */
  #interval: Interval | undefined
  #minSeconds: number = sessionLimits.minSeconds
  #refresh: Timer | undefined
  #isOver = false
  #expiry: Timer | undefined

  constructor(options: SessionTimerOptions) {
    this.#options = options
  }

  /** The session timer fields of our INVITE or UPDATE, which keep the timer as it is: RFC 4028 §7.4. */
  get fields(): readonly HeaderField[] {
    if (this.#interval === undefined) return []
    const { seconds, isOurs } = this.#interval
    return askFor({ seconds, minSeconds: this.#minSeconds, refresher: isOurs ? 'uac' : 'uas' })
  }

  /** Starts the timer for our 2xx to an INVITE or UPDATE of the peer, and returns the fields for the 2xx. */
  answered(request: SipRequest): readonly HeaderField[] {
    this.#stop()
    const asked = sessionExpiresOf(request)
    // RFC 4028 §9: a proxy may have added the interval although the peer itself does not support timers.
    const isKnown = supports(request, 'timer')
    if (asked === undefined || asked.seconds < sessionLimits.minSeconds) return []
    const refresher = isKnown ? (asked.refresher ?? 'uac') : 'uas'
    this.#start({ seconds: asked.seconds, isOurs: refresher === 'uas' })
    const field = sessionExpiresField({ seconds: asked.seconds, refresher })
    return isKnown ? [field, { name: 'require', value: 'timer' }] : [field]
  }

  /** Handles a 2xx to our INVITE or UPDATE. A 2xx without a session timer ends it: RFC 4028 §7.2. */
  confirmed(response: SipResponse): void {
    this.#stop()
    const agreed = sessionExpiresOf(response)
    if (agreed === undefined) return
    const seconds = Math.max(agreed.seconds, sessionLimits.minSeconds)
    this.#start({ seconds, isOurs: agreed.refresher !== 'uas' })
  }

  /** Raises the interval after a 422 to our INVITE or UPDATE; false if `fields` cannot meet it: RFC 4028 §7.3. */
  raise(response: SipMessage): boolean {
    const minSeconds = minSeOf(response)
    if (this.#interval === undefined || minSeconds === undefined || minSeconds <= this.#interval.seconds)
      return false
    this.#minSeconds = minSeconds
    this.#interval = { ...this.#interval, seconds: minSeconds }
    return true
  }

  /** Stops the timer when the dialog ends; it never starts again. */
  end(): void {
    this.#isOver = true
    this.#stop()
  }

  #stop(): void {
    this.#interval = undefined
    this.#refresh?.cancel()
    this.#expiry?.cancel()
  }

  #start(interval: Interval): void {
    if (this.#isOver) return
    const { clock, expired } = this.#options
    this.#interval = interval
    const wholeMs = interval.seconds * 1_000
    // RFC 4028 §10: the BYE is sent a little before the interval ends, whichever side should have refreshed.
    this.#expiry = clock.after(wholeMs - Math.min(sessionLimits.byeBeforeMs, wholeMs / 3), expired)
    if (interval.isOurs) this.#refreshAfter(wholeMs / 2)
  }

  #refreshAfter(delayMs: number): void {
    this.#refresh = this.#options.clock.after(delayMs, () => {
      const current = this.#expiry
      void this.#options.refresh().then(() => {
        // A refresh that was refused, or that collided with an open offer, is retried while there is time.
        if (this.#interval !== undefined && this.#expiry === current)
          this.#refreshAfter(sessionLimits.refreshAgainMs)
      })
    })
  }
}

/** Returns the 422 that RFC 4028 §9 requires for an interval below our minimum, or undefined. */
export function refuseInterval(request: SipRequest): Owed | undefined {
  const asked = sessionExpiresOf(request)
  const isShort = asked !== undefined && asked.seconds < sessionLimits.minSeconds
  if (!isShort || !supports(request, 'timer')) return undefined
  const { minSeconds } = sessionLimits
  const sentence = `The session interval must be ${minSeconds} s or more, not ${asked.seconds} s`
  const code = 'session_too_short'
  return { code, reply: refusal(code, sentence, { headers: [minSeField(minSeconds)] }) }
}

/** Returns the session timer fields of a request. Min-SE is sent only if it is not the default of RFC 4028 §5. */
export function askFor(wish: {
  readonly seconds: number
  readonly minSeconds: number
  readonly refresher?: 'uac' | 'uas'
}): readonly HeaderField[] {
  const { seconds, minSeconds, refresher } = wish
  const field = sessionExpiresField(refresher === undefined ? { seconds } : { seconds, refresher })
  return minSeconds > sessionLimits.minSeconds ? [field, minSeField(minSeconds)] : [field]
}
