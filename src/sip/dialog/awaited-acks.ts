// The ACKs that a dialog waits for: each 2xx to an INVITE is sent again until its ACK arrives (RFC 3261 §13.3.1.4).
import { sdpOf } from '../message/body.ts'
import { cseqOf } from '../message/cseq.ts'
import type { SipRequest, SipResponse } from '../message/message.ts'
import type { ServerTransaction } from '../transaction/transaction.ts'
import type { Core } from './core.ts'
import { repeatUntilAck } from './repeat-until-ack.ts'

interface AwaitedAck {
  /** Stops sending our 2xx again. */
  readonly stop: () => void
  /** The 2xx carries our offer, and the ACK the answer. */
  readonly bringsAnswer: boolean
}

export class AwaitedAcks {
  readonly #core: Pick<Core, 'clock' | 'timers'>
  // By the CSeq of the INVITE that our 2xx responds to.
  readonly #awaited = new Map<number, AwaitedAck>()

  /** A 2xx waits to be sent, and will need an ACK. */
  isHeld = false

  constructor(core: Pick<Core, 'clock' | 'timers'>) {
    this.#core = core
  }

  get size(): number {
    return this.#awaited.size + (this.isHeld ? 1 : 0)
  }

  /** Reports whether our offer is in a 2xx whose ACK brings the answer. */
  get isAnswerAwaited(): boolean {
    return [...this.#awaited.values()].some(({ bringsAnswer }) => bringsAnswer)
  }

  has(sequence: number): boolean {
    return this.#awaited.has(sequence)
  }

  /** Sends the 2xx repeatedly until its ACK arrives; calls `timedOut` when no ACK can arrive any more. */
  send(transaction: ServerTransaction, response: SipResponse, timedOut: () => void): void {
    const { clock, timers } = this.#core
    const { sequence } = cseqOf(transaction.request)
    const repeat = (): void => transaction.respond(response)
    repeat()
    const stop = repeatUntilAck({
      clock,
      timers,
      repeat,
      timedOut: () => {
        this.#awaited.delete(sequence)
        timedOut()
      },
    })
    // An INVITE may have other bodies than a description, and the offer may have had its answer in a PRACK.
    const bringsAnswer = sdpOf(transaction.request) === undefined && response.body.byteLength > 0
    this.#awaited.set(sequence, { stop, bringsAnswer })
  }

  /** Returns false for an ACK that is not awaited: it is a copy, or its 2xx was never sent. */
  receive(ack: SipRequest): boolean {
    const { sequence } = cseqOf(ack)
    const awaited = this.#awaited.get(sequence)
    if (awaited === undefined) return false
    this.#awaited.delete(sequence)
    awaited.stop()
    return true
  }

  stop(): void {
    for (const { stop } of this.#awaited.values()) stop()
    this.#awaited.clear()
  }
}
