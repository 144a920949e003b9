// The call engine: accepts INVITEs, keeps the live calls of this node, and runs the commands of the REST API on them.
import type { ThreadTime } from '../lib/bounds/thread-time.ts'
import { AppError } from '../lib/errors.ts'
import type { IncomingInvite, Owed, WireEvent } from '../sip/sip.ts'
import { Admission, overloaded, stopping } from './admission.ts'
import { toLetter } from './script/run-commands.ts'
import type { AskedCommands } from './script/command.ts'
import type { CommandReply } from './session/session.ts'
import type { CallHandlers, CallRequest, Calls, LiveCall, PreparedCall, EngineNeeds } from './calls.ts'
import { dryRun } from './dry-run/dry-run.ts'
import type { DryQuestion, DryRun } from './dry-run/dry-question.ts'
import { cancelArrival, serveInvite, type Arrival } from './arrivals/serve-invite.ts'
import type { NodeFacts } from './journal/hook-payloads.ts'
import type { JournalWriter } from './journal/journal-writer.ts'
import type { JournalEvent } from './journal/journal.ts'
import { createFarewells } from './journal/farewells.ts'
import { createRecovery, type Recovery } from './journal/recovery.ts'
import { CallPace } from './inbound/call-pace.ts'
import { createLostCallLog, createStrangerLog } from './inbound/stranger-log.ts'
import { createUnservedCalls } from './inbound/unserved-calls.ts'
import { WireTap } from './journal/wire-tap.ts'
import { hangUpFor } from './leg/hang-up-for.ts'
import { toRefusal, toStackRefusal, type Refusal } from './journal/refusals.ts'
import { toOrder, type ScriptedOrder } from './outbound/call-order.ts'
import { placeCall } from './arrivals/place-call.ts'
import type { OutdialUsageStore } from '../contracts/outdial-usage.ts'
import type { DefenceLimit } from './defence-settings.ts'
import { OutdialGuard } from './defence/outdial-guard.ts'
import { CallRegistry } from './registry.ts'
import { RemovedAccounts } from './removed-accounts.ts'
import { HeardPaces } from './channel/heard-pace.ts'
import { Conferences } from './rooms/conferences.ts'
import { toLiveConference, type LiveConference } from './rooms/live-conference.ts'
import { Queues } from './rooms/queues.ts'
import { checkShare } from './routing/call-limits.ts'
import { toDecision } from './journal/decision.ts'
import type { ArrivalNeeds } from './arrivals/needs.ts'
import { Asked } from './parties/asked.ts'

export interface EngineOptions extends EngineNeeds {
  readonly publicAddress: string | undefined
  readonly apiBaseUrl: (() => string | undefined) | undefined
  readonly usage: OutdialUsageStore | undefined
  readonly maxCalls: number
  readonly mainThreadLoad: () => number
  readonly threadTime: ThreadTime
}

/** The longest wait for a commit. After it the client gets its response anyway, because the call has been placed. */
const durableWaitMs = 2000
/** A far end that does not respond to a BYE in this time is treated as gone. */
const byeGraceMs = 2000
const retryAfterSeconds = 5

export class CallEngine implements Calls, CallHandlers {
  readonly name = 'calls'
  readonly #options: EngineOptions
  readonly #needs: ArrivalNeeds
  readonly #registry: CallRegistry
  readonly #tap = new WireTap()
  readonly #admission: Admission
  readonly #guard: OutdialGuard
  readonly #queues = new Queues()
  readonly #arrivals = new Set<Arrival>()
  readonly #recovery: Recovery
  #isStopped = false

  constructor(options: EngineOptions) {
    this.#options = options
    this.#admission = new Admission(options.maxCalls, () => options.store.refusal())
    this.#guard = new OutdialGuard(options)
    const detach = (journal: JournalWriter) => this.#tap.detach(journal.facts.started.sip_call_id, journal)
    this.#registry = new CallRegistry(options.clock, detach, () => removed.follow())
    const removed = new RemovedAccounts({ ...options, registry: this.#registry })
    this.#needs = {
      ...options,
      node: () => this.#node(),
      registry: this.#registry,
      tap: this.#tap,
      admission: this.#admission,
      pace: new CallPace({
        clock: options.clock,
        sharePercent: options.pool.percent,
        load: options.mainThreadLoad,
      }),
      unserved: createUnservedCalls(options.clock),
      guard: this.#guard,
      queues: this.#queues,
      order: (account_sid, data) => this.#order(account_sid, data),
      heardPaces: new HeardPaces(options),
      logStranger: createStrangerLog(options),
      logLost: createLostCallLog(options),
      conferences: new Conferences({ clock: options.clock, node: () => this.#node() }),
    }
    const { store, directory, log } = options
    this.#recovery = createRecovery({
      store,
      directory,
      log,
      node: () => this.#node(),
      hangUp: createFarewells(options),
    })
  }

  get liveCount(): number {
    return this.#registry.liveCount
  }

  async start(): Promise<void> {
    await this.#guard.start()
    this.#options.store.watch({
      abandoned: () => this.#recovery.run(),
      cutOff: () => this.#cutOff(),
      lost: (calls) => this.#lost(new Set(calls)),
    })
    // Not awaited: there may be many calls to recover, and new ones are served meanwhile.
    this.#recovery.run()
  }

  async stop(): Promise<void> {
    await this.#recovery.stop()
    await this.hangUpAll('the platform is stopping')
    await this.#guard.stop()
    await this.#flushed()
    this.#isStopped = true
  }

  /** Hangs up calls that another node has closed: it has written their records, which report them as ended. */
  #lost(calls: ReadonlySet<string>): void {
    for (const leg of this.#registry.live)
      if (calls.has(leg.call_sid))
        void hangUpFor(leg, new AppError('call_lost', 'the call was taken for lost'))
  }

  /** Hangs up the calls over carriers: nothing counts their minutes, and others may have closed them. */
  #cutOff(): void {
    const sentence =
      'the node has not reached the database for a minute, so what the call costs is not counted'
    for (const leg of this.#registry.live)
      if (leg.journal.facts.attempt?.sip_gateway_sid !== undefined)
        void hangUpFor(leg, new AppError('database_unavailable', sentence))
  }

  list(account_sid: string): LiveCall[] {
    return this.#registry.list(account_sid)
  }

  listOfProvider(service_provider_sid: string): LiveCall[] {
    return this.#registry.listOfProvider(service_provider_sid)
  }

  find(account_sid: string, call_sid: string): LiveCall | undefined {
    return this.#registry.find(account_sid, call_sid)
  }

  count(account_sid: string): { inbound: number; outbound: number } {
    return this.#registry.count(account_sid)
  }

  outboundUsage(account_sid: string): Readonly<Record<DefenceLimit, number>> {
    return this.#guard.usage(account_sid)
  }

  queues(account_sid: string): { readonly name: string; readonly length: number }[] {
    return this.#queues.list(account_sid)
  }

  conferences(account_sid: string): LiveConference[] {
    return this.#needs.conferences.of(account_sid).map(toLiveConference)
  }

  journal(account_sid: string, call_sid: string): readonly JournalEvent[] | undefined {
    return this.#registry.journal(account_sid, call_sid)
  }

  async prepare(request: CallRequest): Promise<PreparedCall> {
    const order = await toOrder(request, this.#options.directory)
    const refused = this.#admission.refusal()
    if (refused !== undefined) throw refused
    this.#needs.pace.demandTime(order.account.account_sid)
    await this.#guard.demand(order.account, order.to)
    await this.#demandShare(order.account)
    const { call_sid, call_id } = order
    return { call_sid, call_id, begin: () => this.#begin(order) }
  }

  async dryRun(account_sid: string, question: DryQuestion): Promise<DryRun> {
    const account = await this.#options.directory.account(account_sid)
    if (account === undefined) throw new AppError('not_found', 'no such account')
    return dryRun(account, question, this.#needs)
  }

  async #order(account_sid: string, data: unknown): Promise<string> {
    const account = await this.#options.directory.account(account_sid)
    if (account === undefined) throw new AppError('not_found', 'no such account')
    const { call_sid, begin } = await this.prepare(await this.#options.orders(account, data))
    await begin()
    return call_sid
  }

  /** Throws for an account beyond its share. Among calls prepared together, those beyond it fail when they begin. */
  async #demandShare({ account_sid, service_provider_sid }: ScriptedOrder['account']): Promise<void> {
    const { inbound, outbound } = this.#registry.count(account_sid)
    const { pool, directory } = this.#options
    const calls = { before: { held: inbound + outbound, all: this.liveCount }, pool }
    if (checkShare({}, calls, account_sid) === undefined) return
    const limits = await directory.callLimits({ account_sid, service_provider_sid })
    const refusal = checkShare(limits, calls, account_sid)?.refusal
    if (refusal === undefined) return
    const error = new AppError(refusal.code, refusal.sentence, { retryAfterSeconds })
    const { message, cure: detail } = error
    this.#options.alerts?.raise({ account_sid, alert_type: 'account-call-limit', message, detail })
    throw error
  }

  async #begin(order: ScriptedOrder): Promise<void> {
    const refused = this.#admission.refusal()
    const leave = this.#admission.enter()
    const { sent, done } = placeCall(order, this.#needs, refused)
    void done.finally(leave)
    await sent
    // A client that has the call_sid must find a record of the call, even if this process is killed now. If storage
    // fails, the call is made nevertheless: a client that got an error would make it again.
    await this.#atMost(durableWaitMs, this.#flushed())
  }

  hangUp(account_sid: string, call_sid: string): Promise<boolean> {
    const leg = this.#registry.liveLeg(account_sid, call_sid)
    if (leg === undefined) return Promise.resolve(false)
    leg.journal.note(toDecision({ rule: 'api', outcome: 'hang up' }))
    // The leg has ended when hangUp returns. The far end's response to the BYE is not awaited.
    void leg.hangUp({ because: 'a client of the REST API hung it up' })
    return Promise.resolve(true)
  }

  async command(
    account_sid: string,
    call_sid: string,
    asked: AskedCommands,
  ): Promise<CommandReply | undefined> {
    const commands = this.#options.commands(asked)
    const leg = this.#registry.liveLeg(account_sid, call_sid)
    return leg === undefined ? undefined : leg.session.mailbox.put(toLetter(leg, commands))
  }

  async drain(): Promise<void> {
    this.#close()
    this.#options.sip().drain()
    await this.#admission.whenIdle()
  }

  async hangUpAll(reason: string): Promise<void> {
    this.#close()
    const legs = this.#registry.live
    const farewells = legs.map((leg) => hangUpFor(leg, new AppError('stopping', reason)))
    await this.#flushed()
    const closing = [...farewells, ...legs.map((leg) => leg.closed), this.#admission.whenIdle()]
    await this.#atMost(byeGraceMs, Promise.all(closing))
    await this.#flushed()
  }

  /** Writes the facts that can be written now. Storage tries the others again, and reports them when it stops. */
  #flushed(): Promise<void> {
    return this.#options.store.flush().catch(() => undefined)
  }

  /** Refuses new calls, and those whose caller is still being identified. */
  #close(): void {
    this.#admission.close()
    for (const arrival of this.#arrivals)
      if (arrival.leg === undefined) arrival.owed ??= toRefusal(stopping())
  }

  invited(invite: IncomingInvite): void {
    const unkept = this.#options.store.refusal()
    if (unkept !== undefined) return this.#turnAway(invite, unkept)
    const refused = this.#admission.refusal()
    this.#arrive(invite, refused === undefined ? undefined : toRefusal(refused))
  }

  refused(invite: IncomingInvite, { code, reply }: Owed): void {
    this.#arrive(invite, toStackRefusal(code, reply))
  }

  /** Refuses a call of which nothing could be kept, at once: finding out whose it is would wait for the database. */
  #turnAway(invite: IncomingInvite, error: AppError): void {
    this.#needs.logLost(new Asked(invite, this.#options), error)
    invite.reject({ ...toRefusal(error).reply, isUnproven: true })
    this.#tap.drop(invite.callId)
  }

  #arrive(invite: IncomingInvite, owed: Refusal | undefined): void {
    if (this.#isStopped || this.#admission.isFlooded) {
      invite.reject({ ...(owed ?? toRefusal(overloaded())).reply, isUnproven: true })
      this.#tap.drop(invite.callId)
      return
    }
    const attemptedAt = this.#options.clock.now()
    const asked = new Asked(invite, this.#options)
    const arrival: Arrival = { invite, asked, attemptedAt, owed, cancel: undefined, leg: undefined }
    this.#arrivals.add(arrival)
    const leave = this.#admission.enter()
    invite.onCancel((cancel, unconfirmed) => cancelArrival(arrival, cancel, unconfirmed))
    void serveInvite(arrival, this.#needs).finally(() => {
      this.#arrivals.delete(arrival)
      if (arrival.leg === undefined) this.#tap.drop(invite.callId)
      leave()
    })
  }

  wire(event: WireEvent): void {
    this.#tap.record(event)
  }

  #node(): NodeFacts {
    const { publicAddress, apiBaseUrl } = this.#options
    return { publicIp: publicAddress, apiBaseUrl: apiBaseUrl?.() }
  }

  async #atMost(ms: number, work: Promise<unknown>): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = this.#options.clock.after(ms, resolve)
    await Promise.race([work, promise])
    timer.cancel()
  }
}
