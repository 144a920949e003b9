// Offers of this side within a dialog: each waits until none is open, and after a collision for the time of RFC 3261
// §14.1.
import type { Clock, Timer } from '../../lib/clock.ts'
import { reofferLimits } from '../limits.ts'
import { headerOf, type SipResponse } from '../message/message.ts'
import type { OfferWish } from '../dialogs.ts'
import type { RequestOptions } from './dialog-client.ts'

type OfferMethod = 'INVITE' | 'UPDATE'

export interface ReoffersOptions {
  readonly clock: Clock
  readonly random: () => number
  /** The side that made the Call-ID retries later after a collision: RFC 3261 §14.1. */
  readonly isCallIdOurs: boolean
  readonly maySend: (method: OfferMethod) => boolean
  readonly send: (method: OfferMethod, options: RequestOptions) => Promise<SipResponse>
  /** Returns a response to an offer that is not sent. */
  readonly localResponse: (method: OfferMethod, status: number) => SipResponse
}

interface Turn {
  readonly wish: OfferWish
  readonly answered: PromiseWithResolvers<SipResponse>
  tries: number
  isSent: boolean
  backOff: Timer | undefined
}

export class Reoffers {
  readonly #options: ReoffersOptions
  #current: Turn | undefined
  #next: Turn | undefined
  #isOver = false

  constructor(options: ReoffersOptions) {
    this.#options = options
  }

  request(wish: OfferWish): Promise<SipResponse> {
    const turn = {
      wish,
      answered: Promise.withResolvers<SipResponse>(),
      tries: 0,
      isSent: false,
      backOff: undefined,
    }
    if (this.#isOver) this.#settle(turn, 481)
    else {
      // An offer that waited behind the current one is out of date by now.
      if (this.#next !== undefined) this.#settle(this.#next, 491)
      this.#next = turn
      this.proceed()
    }
    return turn.answered.promise
  }

  /** Sends the next offer, once one was closed or an ACK arrived. */
  proceed(): void {
    if (this.#current === undefined) {
      this.#current = this.#next
      this.#next = undefined
    }
    const turn = this.#current
    if (turn === undefined || turn.isSent || turn.backOff !== undefined) return
    if (this.#options.maySend(methodOf(turn))) void this.#send(turn)
  }

  /** Called when the dialog ends: waiting offers are never sent. */
  stop(): void {
    this.#isOver = true
    const turns = [this.#current, this.#next]
    this.#current = undefined
    this.#next = undefined
    for (const turn of turns) {
      turn?.backOff?.cancel()
      if (turn?.isSent === false) this.#settle(turn, 481)
    }
  }

  async #send(turn: Turn): Promise<void> {
    const { offer, headers } = turn.wish
    turn.isSent = true
    turn.tries += 1
    const response = await this.#options.send(methodOf(turn), { body: offer(), ...(headers && { headers }) })
    const delayMs =
      this.#isOver || turn.tries === reofferLimits.maxTries ? undefined : this.retryDelayMs(response)
    if (delayMs === undefined) {
      turn.answered.resolve(response)
      if (this.#current === turn) this.#current = undefined
      return this.proceed()
    }
    turn.isSent = false
    turn.backOff = this.#options.clock.after(delayMs, () => {
      turn.backOff = undefined
      this.proceed()
    })
  }

  /** Returns the wait before an offer with this response may be sent again; undefined if the response is final. */
  retryDelayMs(response: SipResponse): number | undefined {
    const { random, isCallIdOurs } = this.#options
    if (response.status === 491) {
      // RFC 3261 §14.1: in steps of 10 ms.
      const { fromMs, toMs } = isCallIdOurs ? reofferLimits.ours : reofferLimits.theirs
      return fromMs + 10 * Math.floor((random() * (toMs - fromMs)) / 10)
    }
    if (response.status !== 500 && response.status !== 503) return undefined
    // RFC 3261 §20.33: seconds, which a comment or a parameter may follow.
    const seconds = /^\s*(\d{1,9})\s*(?:[(;]|$)/.exec(headerOf(response, 'retry-after') ?? '')?.[1]
    const askedMs = seconds === undefined ? undefined : Number(seconds) * 1_000
    return askedMs === undefined || askedMs > reofferLimits.maxRetryAfterMs ? undefined : askedMs
  }

  #settle(turn: Turn, status: number): void {
    turn.answered.resolve(this.#options.localResponse(methodOf(turn), status))
  }
}

function methodOf({ wish }: Turn): OfferMethod {
  return wish.method ?? 'INVITE'
}
