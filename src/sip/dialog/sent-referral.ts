// A REFER that this side sent within a dialog, until the last of its NOTIFYs: RFC 3515.
import type { Clock, Timer } from '../../lib/clock.ts'
import type { ReferReport } from '../dialogs.ts'
import { referralLimits } from '../limits.ts'
import { cseqOf } from '../message/cseq.ts'
import { headerOf, type SipRequest, type SipResponse } from '../message/message.ts'
import { isTerminated, referEventOf, sipfragOf } from '../message/refer-event.ts'

export interface SentReferralOptions {
  readonly clock: Clock
  readonly report: (report: ReferReport) => void
  /** Called when no further NOTIFY is expected. */
  readonly over: () => void
}

export class SentReferral {
  readonly #options: SentReferralOptions
  /** The CSeq of the REFER; undefined until its final response, since a challenge raises it. */
  #sequence: number | undefined
  #expiry: Timer | undefined
  #isOver = false

  constructor(options: SentReferralOptions) {
    this.#options = options
  }

  /** Handles the final response to the REFER. */
  answered(response: SipResponse): void {
    if (this.#isOver) return
    this.#sequence = cseqOf(response).sequence
    // RFC 4488 §4: the far end sends no NOTIFYs.
    const isSilent = /^\s*false\s*(?:;|$)/i.test(headerOf(response, 'refer-sub') ?? '')
    if (response.status >= 300 || isSilent) return this.#end()
    this.#expiry = this.#options.clock.after(referralLimits.subscriptionMs, () => {
      this.#end()
      this.#options.report({ isLast: true })
    })
  }

  /** Reports whether a NOTIFY is about this REFER. One without an id matches any: RFC 3515 §2.4.6. */
  isMeantBy(notify: SipRequest): boolean {
    const { id } = referEventOf(notify)
    return id === undefined || this.#sequence === undefined || id === this.#sequence
  }

  notified(notify: SipRequest): void {
    const line = sipfragOf(notify)
    // A final status ends the subscription, whatever Subscription-State says.
    const isLast = isTerminated(notify) || (line?.status ?? 0) >= 200
    if (isLast) this.#end()
    if (line !== undefined || isLast) this.#options.report({ ...line, isLast })
  }

  stop(): void {
    this.#end()
  }

  #end(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#expiry?.cancel()
    this.#options.over()
  }
}
