// Offers of the far end before the call is answered: of UPDATE (RFC 3311 §5.2), and of responses that bring one (RFC 3262 §5).
import type { SipMessage, SipRequest } from '../message/message.ts'
import { failure } from '../refusal.ts'
import type { EarlyListener, Reply } from '../sip.ts'
import { randomRetryAfter } from './core.ts'
import type { Core } from './core.ts'
import { readDescription } from './offer.ts'

export interface EarlyOffersOptions {
  readonly core: Pick<Core, 'log' | 'random'>
  readonly callId: string
  readonly listener: () => EarlyListener | undefined
}

export class EarlyOffers {
  readonly #options: EarlyOffersOptions
  #isOpen = false

  constructor(options: EarlyOffersOptions) {
    this.#options = options
  }

  /** One at a time. Without an offer it only says where the far end is. `early`: the reply while the first offer waits for its answer. */
  async update(request: SipRequest, early: Reply | undefined): Promise<Reply> {
    const description = readDescription(request)
    if (description.kind === 'absent') return { status: 200 }
    if (description.kind !== 'sdp')
      return { status: 415, headers: [{ name: 'accept', value: 'application/sdp' }] }
    if (early !== undefined) return early
    if (this.#isOpen) return this.later
    this.#isOpen = true
    const reply = await this.ask(description.sdp, request)
    this.#isOpen = false
    return reply
  }

  ask(offer: string, message: SipMessage): Promise<Reply> {
    const answer = this.#options.listener()?.offered?.(offer, message)
    return answer === undefined ? Promise.resolve({ status: 488 }) : this.safely(answer)
  }

  /** What the owner replies, and 500 where it fails. */
  async safely(reply: Promise<Reply>): Promise<Reply> {
    try {
      return await reply
    } catch (error) {
      this.#options.core.log.error({ err: error, callId: this.#options.callId }, 'early listener failed')
      return failure()
    }
  }

  /** Sent again a moment later, it is taken. */
  get later(): Reply {
    return { status: 500, headers: [randomRetryAfter(this.#options.core.random)] }
  }
}
