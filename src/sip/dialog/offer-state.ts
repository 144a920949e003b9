// The open offers of a dialog, and the rules for another one meanwhile: RFC 3261 §14, RFC 3311 §5. No I/O, no time.
import { offerLimits } from '../limits.ts'
import type { Reply } from '../message/reply.ts'
import type { ServerTransaction } from '../transaction/transaction.ts'
import type { AwaitedAcks } from './awaited-acks.ts'
import { randomRetryAfter, type Core } from './core.ts'
import { readDescription } from './offer.ts'

export interface OfferStateOptions {
  readonly acks: Pick<AwaitedAcks, 'size' | 'isAnswerAwaited'>
  readonly random: Core['random']
  /** Called each time an offer is closed: another one may now be received or sent. */
  readonly closed: () => void
}

/** `open`: the offer may go to the owner. `refresh`: the request has no offer. */
export type Received =
  | { readonly kind: 'open'; readonly offer: string | undefined }
  | { readonly kind: 'refresh' }
  | { readonly kind: 'refused'; readonly reply: Reply }

export class OfferState {
  readonly #options: OfferStateOptions
  #incoming: ServerTransaction | undefined
  /** An INVITE that this side sent, or an UPDATE with an offer, waits for its response. */
  #isSent = false

  constructor(options: OfferStateOptions) {
    this.#options = options
  }

  /**
   * Returns false while an offer is open in either direction, or an INVITE without its ACK: RFC 3261 §14.1, RFC 3311
   * §5.1.
   */
  maySend(method: 'INVITE' | 'UPDATE'): boolean {
    if (this.#isSent || this.#incoming !== undefined) return false
    const { acks } = this.#options
    return method === 'INVITE' ? acks.size === 0 : !acks.isAnswerAwaited
  }

  /** Opens an offer of this side, until the returned function is called. */
  send(): () => void {
    this.#isSent = true
    return () => {
      this.#isSent = false
      this.#options.closed()
    }
  }

  /** Handles an INVITE or UPDATE of the peer. An `open` offer stays open until `close` or `drop`. */
  receive(transaction: ServerTransaction): Received {
    const { request } = transaction
    const description = readDescription(request)
    const isRefresh = request.method === 'UPDATE' && description.kind === 'absent'
    // An UPDATE without an offer only refreshes, whatever else is open: RFC 3311 §5.2.
    if (isRefresh && this.#incoming?.request.method !== 'UPDATE') return { kind: 'refresh' }
    const reply = this.#refusal(request.method, description.kind)
    if (reply !== undefined) return { kind: 'refused', reply }
    this.#incoming = transaction
    return { kind: 'open', offer: description.kind === 'sdp' ? description.sdp : undefined }
  }

  /** Refuses a second offer, and any offer while one of this side is unanswered: RFC 3261 §14.2 and RFC 3311 §5.2. */
  #refusal(method: string, kind: ReturnType<typeof readDescription>['kind']): Reply | undefined {
    const { acks, random } = this.#options
    const isFull = method === 'INVITE' && acks.size >= offerLimits.maxUnacknowledged
    if (this.#incoming !== undefined || isFull) return { status: 500, headers: [randomRetryAfter(random)] }
    if (this.#isSent || acks.isAnswerAwaited) return { status: 491 }
    if (kind !== 'unsupported') return undefined
    return { status: 415, headers: [{ name: 'accept', value: 'application/sdp' }] }
  }

  /** Returns false if the offer was not open: one that was cancelled has its response. */
  close(transaction: ServerTransaction): boolean {
    if (this.#incoming !== transaction) return false
    this.#incoming = undefined
    this.#options.closed()
    return true
  }

  /** Closes the peer's open offer because it was cancelled or the dialog ends: RFC 3261 §9.2 and §15.1.2. */
  drop(): void {
    const transaction = this.#incoming
    if (transaction === undefined) return
    transaction.respond({ status: 487 })
    this.close(transaction)
  }
}
