// One server transaction (RFC 3261 §17.2): runs the table, keeps the last response, and reports to its core.
import type { Clock } from '../../lib/clock.ts'
import { responseTo } from '../message/build.ts'
import type { SipRequest, SipResponse } from '../message/message.ts'
import { serializeMessage } from '../message/serialize-message.ts'
import type { Reply } from '../message/reply.ts'
import { transactionTimeoutMs, type Timers } from '../timers.ts'
import type { ResponseTarget } from '../transport/response-address.ts'
import { listensFor, step } from './machine.ts'
import {
  inviteServer,
  nonInviteServer,
  type ServerAction,
  type ServerInput,
  type ServerMachine,
  type ServerState,
  type ServerTimer,
} from './server-machines.ts'
import { TimerSet } from './timer-set.ts'
import type { EndReason, ServerTransaction } from './transaction.ts'
import { isReliable, type Remote } from '../transport/transports.ts'
import { withReason } from '../refusal.ts'

export interface ServerTransactionOptions {
  readonly request: SipRequest
  readonly raw: Uint8Array
  readonly remote: Remote
  readonly target: ResponseTarget
  readonly localTag: string
  readonly clock: Clock
  readonly timers: Timers
  send(response: SipResponse, bytes: Uint8Array, target: ResponseTarget, isRepeated: boolean): Promise<void>
  /** Called for an ACK in state accepted, which the core handles. */
  acknowledged(ack: SipRequest, raw: Uint8Array, remote: Remote): void
  terminated(): void
}

export class ServerTransactionMachine implements ServerTransaction {
  readonly request: SipRequest
  readonly raw: Uint8Array
  readonly remote: Remote
  readonly localTag: string
  readonly #options: ServerTransactionOptions
  readonly #machine: ServerMachine
  readonly #isInvite: boolean
  readonly #isReliable: boolean
  readonly #timers: TimerSet<ServerTimer>
  #state: ServerState
  #last: { readonly response: SipResponse; readonly bytes: Uint8Array } | undefined
  #retransmitMs = 0
  #cancel: SipRequest | undefined
  #cancelListener: ((cancel: SipRequest) => void) | undefined
  #isCancelSender: (cancel: SipRequest, remote: Remote) => boolean = () => true
  #end: EndReason | undefined
  #endListener: ((reason: EndReason) => void) | undefined

  constructor(options: ServerTransactionOptions) {
    this.#options = options
    this.request = options.request
    this.raw = options.raw
    this.remote = options.remote
    this.localTag = options.localTag
    this.#isInvite = options.request.method === 'INVITE'
    this.#isReliable = isReliable(options.remote)
    this.#machine = this.#isInvite ? inviteServer : nonInviteServer
    this.#state = this.#isInvite ? 'proceeding' : 'trying'
    this.#timers = new TimerSet(options.clock, (name) => this.#input(name))
    this.#input('start')
  }

  get state(): ServerState {
    return this.#state
  }

  /**
   * Reports whether the INVITE is refused: then the same one in another branch is no copy, but the next try of a proxy
   * whose other target is here too (RFC 3261 §8.2.2.2, §16.6).
   */
  get isRefused(): boolean {
    return this.#isInvite && (this.#state === 'completed' || this.#state === 'confirmed')
  }

  respond(reply: SipResponse | Reply): void {
    const response = 'kind' in reply ? reply : responseTo(this.request, reply, { toTag: this.localTag })
    const input = this.#inputFor(reply)
    if (!listensFor(this.#machine, this.#state, input)) return
    this.#last = { response, bytes: serializeMessage(response) }
    this.#input(input)
  }

  onCancel(listener: (cancel: SipRequest) => void): void {
    this.#cancelListener = listener
    if (this.#cancel !== undefined) listener(this.#cancel)
  }

  takeCancelFrom(isSender: (cancel: SipRequest, remote: Remote) => boolean): void {
    this.#isCancelSender = isSender
  }

  mayCancel(cancel: SipRequest, remote: Remote): boolean {
    return this.#isCancelSender(cancel, remote)
  }

  onEnd(listener: (reason: EndReason) => void): void {
    this.#endListener = listener
    if (this.#end !== undefined) listener(this.#end)
  }

  /** Handles a retransmission of the request. */
  repeated(): void {
    this.#input('request')
  }

  acknowledged(ack: SipRequest, raw: Uint8Array, remote: Remote): void {
    if (this.#state === 'accepted') this.#options.acknowledged(ack, raw, remote)
    else this.#input('ack')
  }

  /** Handles a CANCEL. Only the first one before a final response reaches the listener (RFC 3261 §9.2). */
  cancelled(cancel: SipRequest): void {
    if (this.#cancel !== undefined || this.#state !== 'proceeding') return
    this.#cancel = cancel
    this.#cancelListener?.(cancel)
  }

  stop(): void {
    this.#finish('stopped')
  }

  #inputFor(reply: SipResponse | Reply): ServerInput {
    const { status } = reply
    if (status < 200) return 'send1xx'
    if (this.#isInvite && status < 300) return 'send2xx'
    // After a provisional response the client no longer repeats its request, so a lost refusal would never reach it.
    const mayBeLost = 'isUnproven' in reply && reply.isUnproven === true && this.#last === undefined
    if (mayBeLost) return 'sendOnce'
    return this.#isInvite ? 'send300-699' : 'send200-699'
  }

  #input(input: ServerInput): void {
    const next = step(this.#machine, this.#state, input)
    if (next === undefined) return
    this.#state = next.state
    this.#timers.stopUnless((name) => listensFor(this.#machine, next.state, name))
    let reason: EndReason = 'answered'
    for (const action of next.actions) {
      if (action === 'reportTimeout') reason = 'timeout'
      else if (action === 'reportTransportError') reason = 'transport-error'
      else this.#do(action)
    }
    if (next.state === 'terminated') this.#finish(reason)
  }

  #finish(reason: EndReason): void {
    if (this.#end !== undefined) return
    this.#state = 'terminated'
    this.#end = reason
    this.#timers.stopUnless(() => false)
    this.#options.terminated()
    this.#endListener?.(reason)
  }

  #do(action: Exclude<ServerAction, 'reportTimeout' | 'reportTransportError'>): void {
    const { timers } = this.#options
    switch (action) {
      case 'send':
        return this.#send(false)
      case 'resend':
        return this.#send(true)
      case 'sendTrying':
        return this.#last === undefined ? this.respond({ status: 100 }) : undefined
      case 'answerTimeout':
        return this.respond(withReason({ status: 408 }))
      case 'startTimerG':
        this.#retransmitMs = timers.t1Ms
        return this.#retransmitUnlessReliable()
      case 'doubleTimerG':
        this.#retransmitMs = Math.min(2 * this.#retransmitMs, timers.t2Ms)
        return this.#retransmitUnlessReliable()
      case 'startTimerH':
        return this.#timers.start('timerH', transactionTimeoutMs(timers))
      case 'startTimerI':
        return this.#lingerFor('timerI', timers.t4Ms)
      case 'startTimerJ':
        return this.#lingerFor('timerJ', transactionTimeoutMs(timers))
      case 'startTimerL':
        return this.#timers.start('timerL', transactionTimeoutMs(timers))
      case 'startTimerTrying':
        return this.#timers.start('timerTrying', timers.tryingMs)
      case 'startTimerAnswer':
        return this.#timers.start(
          'timerAnswer',
          this.#isInvite ? timers.inviteAnswerMs : transactionTimeoutMs(timers),
        )
    }
  }

  /**
   * Over a reliable transport the transaction ends immediately (RFC 3261 §17.2.1, §17.2.2: zero seconds). A timer of
   * zero would fire late on a busy event loop, and until then another client's request with the same branch would be
   * treated as a retransmission.
   */
  #lingerFor(timer: 'timerI' | 'timerJ', ms: number): void {
    if (this.#isReliable) this.#input(timer)
    else this.#timers.start(timer, ms)
  }

  #retransmitUnlessReliable(): void {
    if (!this.#isReliable) this.#timers.start('timerG', this.#retransmitMs)
  }

  #send(isRepeated: boolean): void {
    if (this.#last === undefined) return
    const { response, bytes } = this.#last
    this.#options
      .send(response, bytes, this.#options.target, isRepeated)
      .catch(() => this.#input('transportError'))
  }
}
