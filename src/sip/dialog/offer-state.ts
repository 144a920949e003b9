// Which offers of a dialog are open, and what another one may do meanwhile: RFC 3261 §14, RFC 3311 §5. No I/O, no time.
import type { Reply } from '../sip.ts'
import type { ServerTransaction } from '../transaction/transaction.ts'
import type { AwaitedAcks } from './awaited-acks.ts'
import { randomRetryAfter } from './core.ts'
import type { Core } from './core.ts'
import { readDescription } from './offer.ts'

export interface OfferStateOptions {
  readonly acks: Pick<AwaitedAcks, 'size' | 'isAnswerAwaited'>
  readonly random: Core['random']
  /** Called each time an offer is closed: another one may be let in or out now. */
  readonly closed: () => void
}

/** `open`: it may go to the owner. `refresh`: it asks for nothing. */
export type Received =
  | { readonly kind: 'open'; readonly offer: string | undefined }
  | { readonly kind: 'refresh' }
  | { readonly kind: 'refused'; readonly reply: Reply }

export class OfferState {
  readonly #options: OfferStateOptions
  #incoming: ServerTransaction | undefined
  /** An INVITE that this side sent, or an UPDATE with an offer, waits for its answer. */
  #isSent = false

  constructor(options: OfferStateOptions) {
    this.#options = options
  }

  /** Not while an offer is open in either direction, nor an INVITE whose ACK has not come: RFC 3261 §14.1, RFC 3311 §5.1. */
  maySend(method: 'INVITE' | 'UPDATE'): boolean {
    if (this.#isSent || this.#incoming !== undefined) return false
    const { acks } = this.#options
    return method === 'INVITE' ? acks.size === 0 : !acks.isAnswerAwaited
  }

  /** From now on an offer of this side is open, until what is returned is called. */
  send(): () => void {
    this.#isSent = true
    return () => {
      this.#isSent = false
      this.#options.closed()
    }
  }

  /** An INVITE or UPDATE of the peer. One that is `open` is so until `close` or `drop`. */
  receive(transaction: ServerTransaction): Received {
    const { request } = transaction
    const description = readDescription(request)
    const isRefresh = request.method === 'UPDATE' && description.kind === 'absent'
    // An UPDATE without an offer only refreshes, whatever else is open: RFC 3311 §5.2.
    if (isRefresh && this.#incoming?.request.method !== 'UPDATE') return { kind: 'refresh' }
    const reply = this.#refusal(description.kind)
    if (reply !== undefined) return { kind: 'refused', reply }
    this.#incoming = transaction
    return { kind: 'open', offer: description.kind === 'sdp' ? description.sdp : undefined }
  }

  /** RFC 3261 §14.2 and RFC 3311 §5.2: one at a time, and none while an offer of this side waits for its answer. */
  #refusal(kind: ReturnType<typeof readDescription>['kind']): Reply | undefined {
    const { acks, random } = this.#options
    if (this.#incoming !== undefined) return { status: 500, headers: [randomRetryAfter(random)] }
    if (this.#isSent || acks.isAnswerAwaited) return { status: 491 }
    if (kind !== 'unsupported') return undefined
    return { status: 415, headers: [{ name: 'accept', value: 'application/sdp' }] }
  }

  /** Whether this one was still open: what was cancelled meanwhile has its response. */
  close(transaction: ServerTransaction): boolean {
    if (this.#incoming !== transaction) return false
    this.#incoming = undefined
    this.#options.closed()
    return true
  }

  /** The peer's open offer was cancelled, or the dialog ends: RFC 3261 §9.2 and §15.1.2. */
  drop(): void {
    const transaction = this.#incoming
    if (transaction === undefined) return
    transaction.respond({ status: 487 })
    this.close(transaction)
  }
}
