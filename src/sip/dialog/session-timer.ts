// The session timer of one dialog: a far end that is gone without a BYE is noticed, since no refresh comes (RFC 4028).
import type { Clock, Timer } from '../../lib/clock.ts'
import { sessionLimits } from '../limits.ts'
import type { HeaderField, SipMessage, SipRequest, SipResponse } from '../message/message.ts'
import { minSeField, minSeOf, sessionExpiresField, sessionExpiresOf } from '../message/session-expires.ts'
import { supports } from '../message/session-expires.ts'
import { refusal } from '../refusal.ts'
import type { Owed } from '../sip.ts'

export interface SessionTimerOptions {
  readonly clock: Clock
  /** Sends a request that refreshes; resolves once it is answered. A 2xx starts the interval afresh through `confirmed`. */
  readonly refresh: () => Promise<unknown>
  /** No refresh came in time. */
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

  /** What our INVITE or UPDATE says of the timer, so that it goes on as it is: RFC 4028 §7.4. */
  get fields(): readonly HeaderField[] {
    if (this.#interval === undefined) return []
    const { seconds, isOurs } = this.#interval
    return askFor({ seconds, minSeconds: this.#minSeconds, refresher: isOurs ? 'uac' : 'uas' })
  }

  /** Our 2xx to an INVITE or UPDATE of the peer is about to go out: starts the timer, and returns what the 2xx says of it. */
  answered(request: SipRequest): readonly HeaderField[] {
    this.#stop()
    const asked = sessionExpiresOf(request)
    // RFC 4028 §9: the interval may stand there for a proxy, where the peer itself knows no timers.
    const isKnown = supports(request, 'timer')
    if (asked === undefined || asked.seconds < sessionLimits.minSeconds) return []
    const refresher = isKnown ? (asked.refresher ?? 'uac') : 'uas'
    this.#start({ seconds: asked.seconds, isOurs: refresher === 'uas' })
    const field = sessionExpiresField({ seconds: asked.seconds, refresher })
    return isKnown ? [field, { name: 'require', value: 'timer' }] : [field]
  }

  /** A 2xx to our INVITE or UPDATE. One that says nothing of a timer ends it: RFC 4028 §7.2. */
  confirmed(response: SipResponse): void {
    this.#stop()
    const agreed = sessionExpiresOf(response)
    if (agreed === undefined) return
    const seconds = Math.max(agreed.seconds, sessionLimits.minSeconds)
    this.#start({ seconds, isOurs: agreed.refresher !== 'uas' })
  }

  /** Whether a 422 to our INVITE or UPDATE is met by `fields` from now on: RFC 4028 §7.3. */
  raise(response: SipMessage): boolean {
    const minSeconds = minSeOf(response)
    if (this.#interval === undefined || minSeconds === undefined || minSeconds <= this.#interval.seconds)
      return false
    this.#minSeconds = minSeconds
    this.#interval = { ...this.#interval, seconds: minSeconds }
    return true
  }

  /** The dialog ends; the timer never starts again. */
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
    // RFC 4028 §10: the BYE goes out a little before the interval ends, whichever side should have refreshed.
    this.#expiry = clock.after(wholeMs - Math.min(sessionLimits.byeBeforeMs, wholeMs / 3), expired)
    if (interval.isOurs) this.#refreshAfter(wholeMs / 2)
  }

  #refreshAfter(delayMs: number): void {
    this.#refresh = this.#options.clock.after(delayMs, () => {
      const current = this.#expiry
      void this.#options.refresh().then(() => {
        // A refresh that was refused, or met an offer that is open, is tried again while there is time.
        if (this.#interval !== undefined && this.#expiry === current)
          this.#refreshAfter(sessionLimits.refreshAgainMs)
      })
    })
  }
}

/** The 422 that an interval below our minimum is owed by RFC 4028 §9, or undefined. */
export function refuseInterval(request: SipRequest): Owed | undefined {
  const asked = sessionExpiresOf(request)
  const isShort = asked !== undefined && asked.seconds < sessionLimits.minSeconds
  if (!isShort || !supports(request, 'timer')) return undefined
  const { minSeconds } = sessionLimits
  const sentence = `A session without a refresh lasts ${minSeconds} s or more, not ${asked.seconds} s`
  const code = 'session_too_short'
  return { code, reply: refusal(code, sentence, { headers: [minSeField(minSeconds)] }) }
}

/** What a request asks for. Min-SE is only said where it is not the one of RFC 4028 §5, which all know. */
export function askFor(wish: {
  readonly seconds: number
  readonly minSeconds: number
  readonly refresher?: 'uac' | 'uas'
}): readonly HeaderField[] {
  const { seconds, minSeconds, refresher } = wish
  const field = sessionExpiresField(refresher === undefined ? { seconds } : { seconds, refresher })
  return minSeconds > sessionLimits.minSeconds ? [field, minSeField(minSeconds)] : [field]
}
