// One client transaction (RFC 3261 §17.1): runs the table, retransmits the request, acknowledges refusals, and reports
// to its core.
import type { Clock } from '../../lib/clock.ts'
import { ackFor, cancelOf } from '../message/build.ts'
import type { HeaderField, SipRequest, SipResponse } from '../message/message.ts'
import { serializeMessage } from '../message/serialize-message.ts'
import { transactionTimeoutMs, type Timers } from '../timers.ts'
import {
  inviteClient,
  nonInviteClient,
  type ClientAction,
  type ClientInput,
  type ClientMachine,
  type ClientState,
  type ClientTimer,
} from './client-machines.ts'
import { listensFor, step } from './machine.ts'
import { mayAnswer } from './response-source.ts'
import { TimerSet } from './timer-set.ts'
import type { ClientHandlers, ClientTransaction } from './transaction.ts'
import { isReliable, type Remote } from '../transport/transports.ts'

/** A request for one place, with the Via for that place. */
export interface OutgoingRequest {
  readonly request: SipRequest
  readonly bytes: Uint8Array
  readonly remote: Remote
  /** The time to wait for a new connection, if that is less than the usual limit. */
  readonly connectMs?: number
}

export interface ClientTransactionOptions {
  readonly branch: string
  readonly outgoing: OutgoingRequest
  /** Sent if `outgoing` cannot be sent: over UDP, for a request that used TCP only for its size (RFC 3261 §18.1.1). */
  readonly fallback: OutgoingRequest | undefined
  /** Called when `outgoing` could not be sent, before `fallback` is. */
  fellBack(): void
  readonly handlers: ClientHandlers
  readonly clock: Clock
  readonly timers: Timers
  send(outgoing: OutgoingRequest, isRepeated: boolean): Promise<void>
  readonly isProxy: (address: string) => boolean
  /** Starts the transaction of the CANCEL. */
  cancel(cancel: OutgoingRequest): void
  terminated(): void
}

type PlainAction = Exclude<ClientAction, 'reportTimeout' | 'reportTransportError' | 'passUp' | 'sendAck'>

export class ClientTransactionMachine implements ClientTransaction {
  readonly branch: string
  readonly #options: ClientTransactionOptions
  readonly #machine: ClientMachine
  readonly #isInvite: boolean
  readonly #timers: TimerSet<ClientTimer>
  #outgoing: OutgoingRequest
  #fallback: OutgoingRequest | undefined
  #state: ClientState
  #retransmitMs = 0
  #wasSent = false
  #hasLeft = false
  #isOnItsWay = false
  #isLost = false
  #cancelHeaders: readonly HeaderField[] = []
  #isCancelNoted = false
  #isCancelSent = false
  #isOver = false

  constructor(options: ClientTransactionOptions) {
    this.#options = options
    this.branch = options.branch
    this.#outgoing = options.outgoing
    this.#fallback = options.fallback
    this.#isInvite = options.outgoing.request.method === 'INVITE'
    this.#machine = this.#isInvite ? inviteClient : nonInviteClient
    this.#state = this.#isInvite ? 'calling' : 'trying'
    this.#timers = new TimerSet(options.clock, (name) => this.#input(name))
  }

  get request(): SipRequest {
    return this.#outgoing.request
  }

  get remote(): Remote {
    return this.#outgoing.remote
  }

  get hasLeft(): boolean {
    return this.#hasLeft
  }

  get state(): ClientState {
    return this.#state
  }

  start(): void {
    this.#input('start')
  }

  cancel(headers: readonly HeaderField[] = []): void {
    if (this.#isCancelNoted || this.#isCancelSent) return
    this.#cancelHeaders = headers
    this.#input('cancel')
  }

  hears(from: Remote): boolean {
    const { isProxy } = this.#options
    return mayAnswer({ sentTo: this.#outgoing.remote, isLost: this.#isLost, isProxy }, from)
  }

  received(response: SipResponse, remote: Remote): void {
    this.#input(this.#inputFor(response.status), { response, remote })
  }

  /**
   * Handles the loss of the connection to its place. A request not yet handed to it uses the next one, or fails by
   * itself.
   */
  connectionLost(): void {
    if (!this.#isOnItsWay || !this.#isReliable) return
    this.#isOnItsWay = false
    this.#isLost = true
    this.#input('connectionLost')
  }

  stop(): void {
    if (!this.#isOver) this.#finish('stopped')
  }

  #inputFor(status: number): ClientInput {
    if (!this.#isInvite) return status < 200 ? '1xx' : '200-699'
    if (status < 200) return status === 100 ? '100' : '1xx'
    return status < 300 ? '2xx' : '300-699'
  }

  #input(input: ClientInput, received?: { response: SipResponse; remote: Remote }): void {
    const next = step(this.#machine, this.#state, input)
    if (next === undefined) return
    this.#state = next.state
    this.#timers.stopUnless((name) => listensFor(this.#machine, next.state, name))
    let failure: 'timeout' | 'transport-error' | undefined
    for (const action of next.actions) {
      if (action === 'reportTimeout') failure = 'timeout'
      else if (action === 'reportTransportError') failure = 'transport-error'
      else if (action === 'passUp') {
        if (received !== undefined) this.#options.handlers.response(received.response, received.remote)
      } else if (action === 'sendAck') {
        if (received !== undefined) this.#sendAck(received.response)
      } else this.#do(action)
    }
    if (next.state === 'terminated') this.#finish(failure)
  }

  #finish(failure: 'timeout' | 'transport-error' | 'stopped' | undefined): void {
    if (this.#isOver) return
    const hadFinal = this.#state === 'accepted' || this.#state === 'completed'
    this.#isOver = true
    this.#state = 'terminated'
    this.#timers.stopUnless(() => false)
    this.#options.terminated()
    if (failure !== undefined && !hadFinal) this.#options.handlers.failed(failure)
  }

  #do(action: PlainAction): void {
    const { timers } = this.#options
    switch (action) {
      case 'send':
        return this.#send()
      case 'noteCancel':
        this.#isCancelNoted = true
        return
      case 'sendNotedCancel':
        if (this.#isCancelNoted) this.#input('cancel')
        return
      case 'sendCancel':
        return this.#sendCancel()
      case 'startTimerA':
        return this.#retransmitAfter('timerA', timers.t1Ms)
      case 'doubleTimerA':
        return this.#retransmitAfter('timerA', 2 * this.#retransmitMs)
      case 'startTimerE':
        return this.#retransmitAfter('timerE', timers.t1Ms)
      case 'doubleTimerE':
        return this.#retransmitAfter('timerE', Math.min(2 * this.#retransmitMs, timers.t2Ms))
      case 'startTimerEAtT2':
        return this.#retransmitAfter('timerE', timers.t2Ms)
      case 'startTimerB':
        return this.#timers.start('timerB', transactionTimeoutMs(timers))
      case 'startTimerC':
        return this.#timers.start('timerC', timers.timerCMs)
      case 'startTimerD':
        return this.#timers.start('timerD', this.#isReliable ? 0 : timers.timerDMs)
      case 'startTimerF':
        return this.#timers.start('timerF', transactionTimeoutMs(timers))
      case 'startTimerK':
        return this.#timers.start('timerK', this.#isReliable ? 0 : timers.t4Ms)
      case 'startTimerM':
        return this.#timers.start('timerM', transactionTimeoutMs(timers))
      case 'startTimerCancel':
        return this.#timers.start('timerCancel', transactionTimeoutMs(timers))
      case 'startTimerLost':
        return this.#timers.start('timerLost', timers.lostConnectionMs)
    }
  }

  get #isReliable(): boolean {
    return isReliable(this.#outgoing.remote)
  }

  #retransmitAfter(timer: 'timerA' | 'timerE', delayMs: number): void {
    this.#retransmitMs = delayMs
    if (!this.#isReliable) this.#timers.start(timer, delayMs)
  }

  #send(): void {
    const isRepeated = this.#wasSent
    this.#wasSent = true
    this.#options.send(this.#outgoing, isRepeated).then(
      () => (this.#hasLeft = this.#isOnItsWay = true),
      () => this.#sendFailed(),
    )
  }

  #sendFailed(): void {
    const fallback = this.#fallback
    if (fallback === undefined || (this.#state !== 'calling' && this.#state !== 'trying')) {
      return this.#input('transportError')
    }
    this.#options.fellBack()
    // The INVITE has reached no one: sent now, it would ring for a moment.
    if (this.#isCancelNoted) return this.#input('transportError')
    this.#outgoing = fallback
    this.#fallback = undefined
    this.#wasSent = false
    this.#input('start')
  }

  #sendAck(response: SipResponse): void {
    const ack = ackFor(this.request, response)
    const outgoing = { request: ack, bytes: serializeMessage(ack), remote: this.#outgoing.remote }
    // A lost ACK needs no care: the far end repeats its response.
    this.#options.send(outgoing, false).catch(() => undefined)
  }

  #sendCancel(): void {
    if (this.#isCancelSent) return
    this.#isCancelSent = true
    const cancel = cancelOf(this.request, this.#cancelHeaders)
    this.#options.cancel({
      request: cancel,
      bytes: serializeMessage(cancel),
      remote: this.#outgoing.remote,
    })
  }
}
