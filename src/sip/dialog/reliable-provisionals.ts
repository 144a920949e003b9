// The provisional responses that are sent reliably: each is sent again until its PRACK, one after the other (RFC 3262
// §3).
import type { Timer } from '../../lib/clock.ts'
import { provisionalLimits } from '../limits.ts'
import type { SipRequest, SipResponse } from '../message/message.ts'
import { confirms } from '../message/reliable.ts'
import { transactionTimeoutMs } from '../timers.ts'
import type { ServerTransaction } from '../transaction/transaction.ts'
import { refuse, type Core } from './core.ts'

export interface ReliableProvisionalsOptions {
  readonly core: Pick<Core, 'clock' | 'timers' | 'random'>
  readonly transaction: ServerTransaction
  /** Called when no PRACK has arrived for 64*T1. */
  readonly timedOut: () => void
  /** Responds to a PRACK that confirms a response. `isDescribed`: it, or one before it, had a description. */
  readonly respond: (prack: ServerTransaction, isDescribed: boolean) => void
  /** Called with the PRACK for the response with a description. */
  readonly described: (prack: SipRequest) => void
}

/** A 2xx that waits for a PRACK. */
export interface HeldAnswer {
  readonly confirmed: Promise<void>
  readonly transaction: ServerTransaction
  readonly response: SipResponse
  /** Called if the call ends before. */
  readonly abandoned: () => void
}

export class ReliableProvisionals {
  readonly #options: ReliableProvisionalsOptions
  readonly #waiting: SipResponse[] = []
  readonly #confirmed = Promise.withResolvers<void>()
  /** The response that was sent last; it waits for its PRACK while the timers run. */
  #sent: { readonly rseq: number; readonly hasDescription: boolean } | undefined
  #isOpen = false
  #isAnswered = false
  #nextRseq: number
  #repetition: Timer | undefined
  #deadline: Timer | undefined

  constructor(options: ReliableProvisionalsOptions) {
    this.#options = options
    // RFC 3262 §3: the first RSeq is between 1 and 2**31 - 1.
    this.#nextRseq = 1 + Math.floor(options.core.random() * (2 ** 31 - 1))
  }

  send(response: SipResponse): void {
    this.#waiting.push(response)
    if (this.#waiting.length > provisionalLimits.maxWaiting) this.#dropOne()
    if (!this.#isOpen) this.#sendNext()
  }

  /** Drops the newest response without a description that is not the last one. Descriptions are kept: each is sent once. */
  #dropOne(): void {
    const at = this.#waiting.findLastIndex(
      ({ body }, index) => body.byteLength === 0 && index < this.#waiting.length - 1,
    )
    this.#waiting.splice(at === -1 ? this.#waiting.length - 1 : at, 1)
  }

  /**
   * Resolves once a 2xx may be sent: no response with a description waits for its PRACK. Other waiting responses are
   * dropped.
   */
  finish(): Promise<void> {
    const needsPrack =
      (this.#isOpen && this.#sent?.hasDescription === true) ||
      this.#waiting.some(({ body }) => body.byteLength > 0)
    if (!needsPrack) this.stop()
    return this.#confirmed.promise
  }

  get isFinishing(): boolean {
    return this.#isOpen || this.#waiting.length > 0
  }

  /** The caller has received a description and confirmed it. */
  get isAnswered(): boolean {
    return this.#isAnswered
  }

  /** Handles a PRACK, also for a response that a final one has overtaken. */
  receive(prack: ServerTransaction): void {
    const { rseq } = this.#sent ?? {}
    const isOurs = rseq !== undefined && confirms(prack.request, rseq, this.#options.transaction.request)
    if (isOurs) this.#options.respond(prack, this.#isAnswered || this.#sent?.hasDescription === true)
    else refuse(prack, 481)
    if (!isOurs || !this.#isOpen) return
    this.#close()
    if (this.#sent?.hasDescription === true) {
      this.#isAnswered = true
      this.#options.described(prack.request)
    }
    if (this.#waiting.length > 0) this.#sendNext()
    else this.#confirmed.resolve()
  }

  stop(): void {
    this.#waiting.length = 0
    this.#close()
    this.#confirmed.resolve()
  }

  #sendNext(): void {
    const next = this.#waiting.shift()
    if (next === undefined) return
    const { core, transaction, timedOut } = this.#options
    const rseq = this.#nextRseq++
    const headers = [
      ...next.headers,
      { name: 'require', value: '100rel' },
      { name: 'rseq', value: String(rseq) },
    ]
    const response = { ...next, headers }
    this.#sent = { rseq, hasDescription: next.body.byteLength > 0 }
    this.#isOpen = true
    // RFC 3262 §3: unlike a 2xx, it is sent at intervals that double without a bound.
    const send = (nextMs: number): void => {
      transaction.respond(response)
      this.#repetition = core.clock.after(nextMs, () => send(2 * nextMs))
    }
    send(core.timers.t1Ms)
    this.#deadline = core.clock.after(transactionTimeoutMs(core.timers), () => {
      this.stop()
      timedOut()
    })
  }

  #close(): void {
    this.#isOpen = false
    this.#repetition?.cancel()
    this.#deadline?.cancel()
  }
}
