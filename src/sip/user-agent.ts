// The user agent core: the dispatch of requests to the parts that respond to them, over any transport (RFC 3261 §8.2).
import { createAuthenticator, type Authenticate } from './auth/authenticator.ts'
import { abilitiesOf, withHeaders, type Core } from './dialog/core.ts'
import { DialogTable, dialogIdOf, type DialogId } from './dialog/dialog-table.ts'
import { PendingInvite } from './dialog/pending-invite.ts'
import { readReplaces } from './dialog/replaces.ts'
import { SentInvite } from './dialog/sent-invite.ts'
import { refuseInterval } from './dialog/session-timer.ts'
import { contactAt } from './contact.ts'
import { createGuessLimit, type GuessLimit } from './auth/guess-limit.ts'
import { cseqOf } from './message/cseq.ts'
import { headerOf, type SipRequest, type SipResponse } from './message/message.ts'
import { tagOf } from './message/name-addr.ts'
import { createNonces } from './auth/nonces.ts'
import { isStraightFromUs } from './own-tags.ts'
import { createBindings } from './registrar/bindings.ts'
import { createReach, type Reach } from './registrar/reach.ts'
import { createRegistrar, type Register } from './registrar/registrar.ts'
import { capabilitiesOf, returned, toOwed, withoutState } from './user-agent-replies.ts'
import { byeIn } from './dialog/left-dialog.ts'
import { sendOutsideRequest } from './send-outside-request.ts'
import type { ResolveUri } from './transport/resolve.ts'
import type { Authentication } from './auth/directory.ts'
import type { OutgoingInvite, OutgoingInviteOptions } from './invites.ts'
import type { Owed, Reply } from './message/reply.ts'
import type { Sip } from './sip.ts'
import { createSources, type Sources } from './transport/sources.ts'
import { standardTimers } from './timers.ts'
import { createTransactionLayer } from './transaction/transaction-layer.ts'
import type { ServerTransaction, TransactionCounters } from './transaction/transaction.ts'
import { isReliable, portFor, type HostPort, type Peer, type Remote } from './transport/transports.ts'
import type { UserAgentOptions } from './user-agent-options.ts'
import { failure, refusal, withReason } from './refusal.ts'
import { AppError } from '../lib/errors.ts'

export interface UserAgent extends Sip {
  readonly counters: UserAgentCounters
}

/** `calls`, `client` and `server` fall to zero when the stack is idle. */
export interface UserAgentCounters extends TransactionCounters {
  /** Calls, including unanswered ones. */
  readonly calls: number
}

export function createUserAgent(options: UserAgentOptions): UserAgent {
  return new Agent(options)
}

class Agent implements UserAgent {
  readonly name = 'sip'
  readonly bindings
  readonly resolve: ResolveUri
  readonly rest: Sip['rest']
  readonly reach: Sip['reach']
  readonly request: Sip['request'] = (asked) => sendOutsideRequest(this.#core, asked)
  readonly byeIn: Sip['byeIn'] = (left, headers) => byeIn(this.#core, left, headers)
  readonly #options: UserAgentOptions
  readonly #core: Core
  readonly #authenticate: Authenticate
  readonly #guesses: GuessLimit
  readonly #reach: Reach
  readonly #register: Register
  readonly #sources: Sources
  /** Sent INVITEs by the tag in From: the INVITEs of one call share their Call-ID. */
  readonly #sent = new Map<string, SentInvite>()
  #isDraining = false

  constructor(options: UserAgentOptions) {
    const { transport, directory, clock, log, resolve } = options
    this.#options = options
    this.resolve = resolve
    this.rest = options.rest ?? (() => undefined)
    this.reach = (binding, mayReach) => this.#reach.find(binding, mayReach)
    this.bindings = createBindings({ clock, archive: options.bindingArchive, isProxy: options.isProxy })
    this.#reach = createReach({ bindings: this.bindings, transport, resolve, log })
    this.#sources = createSources({
      clock,
      gatewayOwners: (...from) => directory.gatewayOwners?.(...from),
      isBound: (remote) => this.bindings.isBound(remote),
      isProxy: options.isProxy,
    })
    this.#guesses = createGuessLimit(clock)
    this.#authenticate = createAuthenticator({
      directory,
      nonces: createNonces({ clock }),
      guesses: this.#guesses,
      isProxy: options.isProxy,
      algorithms: options.digestAlgorithms,
    })
    this.#register = createRegistrar({
      authenticate: (request, remote) => this.authenticate(request, remote),
      bindings: this.bindings,
      directory,
      clock,
      log,
    })
    this.#core = this.#createCore()
  }

  #createCore(): Core {
    const { transport, handlers, clock, log, resolve, userAgent, timers = standardTimers } = this.#options
    const abilities = abilitiesOf(this.#options.serves ?? {})
    const transactions = createTransactionLayer({
      transport,
      capabilities: capabilitiesOf(abilities),
      clock,
      log,
      timers,
      sources: this.#sources,
      isProxy: this.#options.isProxy,
      advertised: (remote) => this.addressFor(remote),
      user: {
        immediate: (request) => this.#immediate(request),
        request: (transaction) => this.#request(transaction),
        refused: (transaction, reply) => this.#refused(transaction, toOwed(transaction.request, reply)),
        ack: (ack, _raw, remote) => this.#ack(ack, remote),
        strayResponse: (...received) => this.#strayResponse(...received),
      },
      onWire: (event) => handlers.wire?.(event),
    })
    return {
      transactions,
      dialogs: new DialogTable(),
      clock,
      timers,
      log,
      random: this.#options.random ?? Math.random,
      abilities,
      seal: this.#options.seal,
      product: userAgent,
      contactFor: (remote, name) => contactAt(this.addressFor(remote), remote.transport, name),
      resolve,
      rest: (remote) => this.rest(remote),
      phonesAt: (remote) => this.bindings.boundTo(remote),
      flowAgain: (phone) => this.#reach.again(phone),
      isOpen: (remote) => !isReliable(remote) || transport.isOpen(remote),
    }
  }

  get listening(): Sip['listening'] {
    return this.#options.transport.listening
  }

  get counters(): UserAgentCounters {
    return { ...this.#core.transactions.counters, calls: this.#core.dialogs.size }
  }

  async start(): Promise<void> {
    const { transactions } = this.#core
    await this.bindings.load()
    await this.#options.transport.start({
      message: (message, raw, remote) => transactions.receive(message, raw, remote),
      admits: (remote, unread) => this.#sources.admits(remote, unread),
      isProven: (remote) => this.#sources.isProven(remote),
      closed: (remote) => {
        this.#reach.closed(remote)
        this.#core.dialogs.connectionLost(remote)
        transactions.connectionLost(remote)
      },
      isNeeded: (remote) => this.bindings.isBound(remote),
      isInCall: (remote) => this.#core.dialogs.isInCall(remote),
    })
  }

  async stop(): Promise<void> {
    for (const sent of this.#sent.values()) sent.stop()
    this.#sent.clear()
    this.#core.dialogs.stopAll()
    this.#core.transactions.stop()
    this.bindings.close()
    await this.#options.transport.stop()
  }

  addressFor(remote?: Peer): HostPort {
    return { host: this.#options.hostFor(remote), port: portFor(this.listening, remote?.transport) }
  }

  authenticate(request: SipRequest, remote: Remote): Promise<Authentication> {
    return this.#prove(request, remote)
  }

  async #prove(request: SipRequest, remote: Remote, userRealm?: string): Promise<Authentication> {
    const result = await this.#authenticate(request, remote, userRealm)
    if (result.verdict === 'accepted') this.#sources.prove(remote)
    return result
  }

  hasUserAt(realm: string, address: string): boolean {
    return this.#guesses.hasSucceeded({ realm, address })
  }

  invite(options: OutgoingInviteOptions): OutgoingInvite {
    const sent: SentInvite = new SentInvite(this.#core, options, () => this.#sent.delete(sent.localTag))
    this.#sent.set(sent.localTag, sent)
    return sent
  }

  async open(remote: Remote): Promise<void> {
    if (isReliable(remote)) await this.#options.transport.open(remote)
  }

  slow: Sip['slow'] = ({ raw, remote }, to) => this.#sources.slow(remote, raw, to)

  drain(): void {
    this.#isDraining = true
  }

  /** Returns the stateless response to a request for no dialog and no user, since any host may send one. */
  #immediate(request: SipRequest): Reply | undefined {
    const reply = this.#withoutState(request)
    return reply && this.#complete(reply)
  }

  #withoutState(request: SipRequest): Reply | undefined {
    const id = dialogIdOf(request)
    if (id !== undefined) return this.#core.dialogs.get(id) === undefined ? { status: 481 } : undefined
    return withoutState(request.method, this.#core.abilities, this.#isDraining)
  }

  /** Handles the requests that `#withoutState` leaves: a request in a dialog, an INVITE or a REGISTER. */
  #request(transaction: ServerTransaction): void {
    const { request } = transaction
    const id = dialogIdOf(request)
    if (id !== undefined) this.#withinDialog(transaction, id)
    else if (request.method === 'INVITE') this.#invited(transaction)
    else void this.#answer(transaction, () => this.#register(request, transaction.remote))
  }

  #withinDialog(transaction: ServerTransaction, id: DialogId): void {
    const entry = this.#core.dialogs.get(id)
    const guard = entry?.guard
    if (guard === undefined) return entry?.receive(transaction)
    transaction.takeCancelFrom((cancel, remote) => guard.takes(cancel, remote))
    if (guard.admits(transaction.request, transaction.remote)) return entry?.receive(transaction)
    void this.#answer(transaction, async () => {
      const reply = await guard.refuses(transaction, (...request) => this.#prove(...request))
      if (reply !== undefined) return reply
      // The INVITE may have been answered, or have ended, meanwhile.
      const current = this.#core.dialogs.get(id)
      return current === undefined ? { status: 481 } : current.receive(transaction)
    })
  }

  #invited(transaction: ServerTransaction): void {
    const { seal } = this.#options
    const isReturned = seal !== undefined && isStraightFromUs(transaction.request, seal)
    const owed = refuseInterval(transaction.request) ?? (isReturned ? returned() : undefined)
    if (owed !== undefined) return this.#refused(transaction, owed)
    const read = readReplaces(transaction.request, this.#core.dialogs, this.#options.serves)
    if (read !== undefined && 'owed' in read) return this.#refused(transaction, read.owed)
    this.#options.handlers.invited(new PendingInvite(this.#core, transaction, read?.replaced))
  }

  #refused(transaction: ServerTransaction, owed: Owed): void {
    const { handlers } = this.#options
    if (handlers.refused !== undefined) handlers.refused(new PendingInvite(this.#core, transaction), owed)
    else this.#respond(transaction, { ...owed.reply, isUnproven: true })
  }

  #ack(ack: SipRequest, remote: Remote): void {
    const id = dialogIdOf(ack)
    const entry = id && this.#core.dialogs.get(id)
    if (entry?.guard?.takes(ack, remote) !== false) entry?.receiveAck(ack)
  }

  /** Returns the handler of a late 2xx or one of another fork: its dialog must be ended (RFC 3261 §13.2.2.4). */
  #strayResponse(response: SipResponse, remote: Remote): (() => void) | undefined {
    const isAnswer = response.status >= 200 && response.status < 300
    if (!isAnswer || cseqOf(response).method !== 'INVITE') return undefined
    const sent = this.#sent.get(tagOf(headerOf(response, 'from')) ?? '')
    const isOurs = sent?.callId === headerOf(response, 'call-id') && sent?.hears(remote)
    return isOurs === true ? () => sent?.respond(response) : undefined
  }

  /** Sends the reply; if there is none, the response is sent elsewhere. */
  async #answer(transaction: ServerTransaction, reply: () => Promise<Reply | void>): Promise<void> {
    try {
      const answer = await reply()
      if (answer !== undefined) this.#respond(transaction, answer)
    } catch (error) {
      const { method } = transaction.request
      // For example a database that does not respond: the far end gets the code and the sentence.
      if (error instanceof AppError) return this.#respond(transaction, refusal(error.code, error.message))
      this.#core.log.error({ err: error, method }, 'sip request not handled')
      this.#respond(transaction, failure())
    }
  }

  #respond(transaction: ServerTransaction, reply: Reply): void {
    transaction.respond(this.#complete(reply))
  }

  #complete(reply: Reply): Reply {
    return withHeaders(withReason(reply), [{ name: 'server', value: this.#options.userAgent }])
  }
}
