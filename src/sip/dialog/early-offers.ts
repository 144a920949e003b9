// Offers of the far end before the call is answered: in an UPDATE (RFC 3311 §5.2), or in a reliable response or its
// PRACK (RFC 3262 §5).
import type { SipMessage, SipRequest } from '../message/message.ts'
import { failure } from '../refusal.ts'
import type { EarlyListener } from '../dialogs.ts'
import type { Reply } from '../message/reply.ts'
import { randomRetryAfter, type Core } from './core.ts'
import { readDescription } from './offer.ts'

export interface EarlyOffersOptions {
  readonly core: Pick<Core, 'log' | 'random'>
  readonly callId: string
  readonly listener: () => EarlyListener | undefined
}

export class EarlyOffers {
  readonly #options: EarlyOffersOptions
  #isOpen = false
  #lastAnswer: Reply['body']

  constructor(options: EarlyOffersOptions) {
    this.#options = options
  }

  /** The last answer to an offer that has changed the result of the first one. */
  get lastAnswer(): Reply['body'] {
    return this.#lastAnswer
  }

  /**
   * Handles an UPDATE or a PRACK, one at a time. An UPDATE without an offer only refreshes the target. `early` is the
   * reply while the first offer is unanswered.
   */
  async take(request: SipRequest, early: Reply | undefined): Promise<Reply> {
    const description = readDescription(request)
    if (description.kind === 'absent') return { status: 200 }
    if (description.kind !== 'sdp')
      return { status: 415, headers: [{ name: 'accept', value: 'application/sdp' }] }
    if (early !== undefined) return early
    if (this.#isOpen) return this.later
    this.#isOpen = true
    const reply = await this.ask(description.sdp, request)
    this.#isOpen = false
    this.#lastAnswer = reply.body ?? this.#lastAnswer
    return reply
  }

  ask(offer: string, message: SipMessage): Promise<Reply> {
    return this.safely(
      () => this.#options.listener()?.offered?.(offer, message) ?? Promise.resolve({ status: 488 }),
    )
  }

  /** Returns the owner's reply, or 500 if the owner fails. */
  async safely(react: () => Promise<Reply>): Promise<Reply> {
    try {
      return await react()
    } catch (error) {
      this.#options.core.log.error({ err: error, callId: this.#options.callId }, 'early listener failed')
      return failure()
    }
  }

  /** The refusal of a request that may be repeated a moment later. */
  get later(): Reply {
    return { status: 500, headers: [randomRetryAfter(this.#options.core.random)] }
  }
}
