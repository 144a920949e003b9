// The call engine: takes INVITEs, keeps the live calls of this node, answers the API's questions about them.
import { AppError } from '../lib/errors.ts'
import { defaultSharePercent } from '../lib/tenant-pool.ts'
import type { SipRequest } from '../sip/message/message.ts'
import type { IncomingInvite, Owed, WireEvent } from '../sip/sip.ts'
import { createAlertingStore } from './journal/alerts.ts'
import type { CallServices } from './call-services.ts'
import type { CallCommand, CallRequest, Calls, LiveCall, PreparedCall } from './calls.ts'
import { serveInvite } from './inbound/serve-invite.ts'
import type { Arrival, InboundOptions } from './inbound/serve-invite.ts'
import { command } from './application/call-command.ts'
import type { NodeFacts } from './journal/hook-payloads.ts'
import type { JournalEvent } from './journal/journal.ts'
import type { Leg } from './leg/leg.ts'
import { toOrder } from './outbound/call-order.ts'
import type { CallOrder } from './outbound/call-order.ts'
import { placeCall } from './outbound/place-call.ts'
import type { OutboundOptions } from './outbound/place-call.ts'
import type { Alerts } from '../contracts/alert.ts'
import { createRecovery } from './journal/recovery.ts'
import type { Recovery } from './journal/recovery.ts'
import { toRefusal, toStackRefusal } from './leg/refusals.ts'
import type { Refusal } from './leg/refusals.ts'
import { CallRegistry } from './registry.ts'
import { checkShare } from './routing/call-limits.ts'
import type { CallPool } from './routing/call-limits.ts'
import { WireTap } from './journal/wire-tap.ts'

export interface CallsOptions extends Omit<CallServices, 'node' | 'maxCallMs' | 'ringingMs' | 'pool'> {
  /** Set when the operator named an address: fs_public_ip of payloads. */
  readonly publicAddress: string | undefined
  /** The base of the REST API, undefined until it listens: service_url and api_base_url of payloads. */
  readonly apiBaseUrl?: () => string | undefined
  /** Where alerts go, if they go anywhere. */
  readonly alerts?: Alerts
  /** More at one time are refused with 503. */
  readonly maxCalls?: number
  /** How many calls can have media at one time. */
  readonly maxMedia?: number
  /** The most of the calls that one account may have while no other has any, in percent. */
  readonly sharePercent?: number
  /** An answered call is hung up after this long (calls.md §2.5: 180 minutes). */
  readonly maxCallMs?: number
  /** Of accounts that do not choose their own; never, when left out. */
  readonly ringingMs?: number
}

/** What the SIP stack calls. */
export interface CallHandlers {
  invited(invite: IncomingInvite): void
  refused(invite: IncomingInvite, owed: Owed): void
  wire(event: WireEvent): void
}

const defaultMaxCalls = 2000
const defaultMaxCallMs = 180 * 60_000
/** The call is made: a database that is gone must not keep its maker from knowing. */
const durableWaitMs = 2000
/** A far end that does not answer our BYE by then is gone. */
const byeGraceMs = 2000
/** Refused calls are arrivals until they have their record; so far beyond the capacity they get none. */
const flood = 1.1
const retryAfterSeconds = 5

export function createCalls(options: CallsOptions): Calls & CallHandlers {
  const { alerts, store } = options
  return new CallEngine(
    alerts === undefined ? options : { ...options, store: createAlertingStore(store, alerts) },
  )
}

class CallEngine implements Calls, CallHandlers {
  readonly name = 'calls'
  readonly #options: CallsOptions
  readonly #registry: CallRegistry
  readonly #tap = new WireTap()
  readonly #maxCalls: number
  readonly #pool: CallPool
  readonly #arrivals = new Set<Arrival>()
  /** Calls of ours that are not over. */
  readonly #placed = new Set<Leg>()
  readonly #inbound: InboundOptions
  readonly #outbound: OutboundOptions
  readonly #recovery: Recovery
  #isDraining = false
  #isStopped = false
  /** Resolved when the last call has ended. */
  #idleWaiters: (() => void)[] = []

  constructor(options: CallsOptions) {
    this.#options = options
    this.#registry = new CallRegistry(options.clock, (journal) => {
      this.#tap.detach(journal.facts.started.sip_call_id, journal)
    })
    const { store, directory, log } = options
    this.#recovery = createRecovery({ store, directory, log, node: () => this.#node() })
    const { maxCallMs = defaultMaxCallMs, maxMedia = Infinity, sharePercent = defaultSharePercent } = options
    const { ringingMs = 0 } = options
    this.#maxCalls = options.maxCalls ?? defaultMaxCalls
    this.#pool = { size: Math.min(this.#maxCalls, maxMedia), percent: sharePercent }
    const common = {
      services: { ...options, maxCallMs, ringingMs, pool: this.#pool, node: () => this.#node() },
      onEnded: (leg: Leg) => this.#ended(leg),
      callsBefore: (leg: Leg) => this.#registry.before(leg),
    }
    this.#inbound = {
      ...common,
      onLeg: (arrival, leg) => this.#begun(arrival, leg),
      refusesNow: () => this.#stopping(),
    }
    this.#outbound = {
      ...common,
      onLeg: (leg) => this.#placing(leg),
      refusesNow: () => this.#stopping() ?? this.#overloaded(),
    }
  }

  get liveCount(): number {
    return this.#registry.liveCount
  }

  async start(): Promise<void> {
    this.#options.store.watch({
      abandoned: () => this.#recovery.run(),
      lost: (calls) => this.#lost(new Set(calls)),
    })
    // Beside what is served: there may be many of them.
    this.#recovery.run()
  }

  async stop(): Promise<void> {
    await this.#recovery.stop()
    await this.hangUpAll('the platform is stopping')
    this.#isStopped = true
  }

  /** They have their records, which say that they are over: so they are. */
  #lost(calls: ReadonlySet<string>): void {
    for (const leg of this.#registry.live)
      if (calls.has(leg.call_sid)) void leg.hangUp({ reason: 'the call was taken for lost' })
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

  journal(account_sid: string, call_sid: string): readonly JournalEvent[] | undefined {
    return this.#registry.journal(account_sid, call_sid)
  }

  async prepare(request: CallRequest): Promise<PreparedCall> {
    const order = await toOrder(request, this.#options.directory)
    const refused = this.#outbound.refusesNow()
    if (refused !== undefined) throw refused
    await this.#demandShare(order.account)
    const { call_sid, call_id } = order
    return { call_sid, call_id, begin: () => this.#begin(order) }
  }

  /** Said to the client at once; a call that slips through beside others is refused when it begins. */
  async #demandShare({ account_sid, service_provider_sid }: CallOrder['account']): Promise<void> {
    const { inbound, outbound } = this.#registry.count(account_sid)
    const calls = { before: { held: inbound + outbound, all: this.liveCount }, pool: this.#pool }
    if (checkShare({}, calls, account_sid) === undefined) return
    const limits = await this.#options.directory.callLimits({ account_sid, service_provider_sid })
    const refusal = checkShare(limits, calls, account_sid)?.refusal
    if (refusal === undefined) return
    const error = new AppError(refusal.code, refusal.sentence, { retryAfterSeconds })
    const { message, cure: detail } = error
    this.#options.alerts?.raise({ account_sid, alert_type: 'account-call-limit', message, detail })
    throw error
  }

  async #begin(order: CallOrder): Promise<void> {
    const { leg, sent, done } = placeCall(order, this.#outbound)
    void done.finally(() => {
      this.#placed.delete(leg)
      this.#checkIdle()
    })
    await sent
    // Whoever is told of a call must find its record, also when this process is killed now.
    await this.#atMost(durableWaitMs, this.#options.store.flush())
  }

  hangUp(account_sid: string, call_sid: string): Promise<boolean> {
    const leg = this.#registry.liveLeg(account_sid, call_sid)
    if (leg === undefined) return Promise.resolve(false)
    leg.journal.note({ type: 'decision', rule: 'API', outcome: 'hang up' })
    // The leg has ended when this returns; the far end's answer to the BYE is not waited for.
    void leg.hangUp()
    return Promise.resolve(true)
  }

  command(account_sid: string, call_sid: string, asked: CallCommand): boolean {
    const leg = this.#registry.liveLeg(account_sid, call_sid)
    if (leg === undefined) return false
    command(leg, asked)
    return true
  }

  async drain(): Promise<void> {
    this.#isDraining = true
    this.#options.sip().drain()
    await this.#whenIdle()
  }

  async hangUpAll(reason: string): Promise<void> {
    this.#isDraining = true
    const legs = this.#registry.live
    const farewells = legs.map((leg) => leg.hangUp({ reason }))
    await this.#options.store.flush()
    // Also those still being authenticated: they find the platform stopping and are refused.
    const closing = [...farewells, ...legs.map((leg) => leg.closed), this.#whenIdle()]
    await this.#atMost(byeGraceMs, Promise.all(closing))
    await this.#options.store.flush()
  }

  invited(invite: IncomingInvite): void {
    const refused = this.#stopping() ?? this.#overloaded()
    this.#arrive(invite, refused === undefined ? undefined : toRefusal(refused))
  }

  refused(invite: IncomingInvite, { code, reply }: Owed): void {
    this.#arrive(invite, toStackRefusal(code, reply))
  }

  #arrive(invite: IncomingInvite, owed: Refusal | undefined): void {
    if (this.#isStopped || this.#isFull(flood)) {
      invite.reject({ ...(owed ?? toRefusal(overloaded())).reply, isUnproven: true })
      this.#tap.drop(invite.callId)
      return
    }
    const attemptedAt = this.#options.clock.now()
    const arrival: Arrival = { invite, attemptedAt, owed, cancel: undefined, leg: undefined }
    this.#arrivals.add(arrival)
    invite.onCancel((cancel) => cancelled(arrival, cancel))
    void serveInvite(arrival, this.#inbound).finally(() => {
      this.#arrivals.delete(arrival)
      if (arrival.leg === undefined) this.#tap.drop(invite.callId)
      this.#checkIdle()
    })
  }

  wire(event: WireEvent): void {
    this.#tap.record(event)
  }

  #node(): NodeFacts {
    const { publicAddress, apiBaseUrl } = this.#options
    return { publicIp: publicAddress, apiBaseUrl: apiBaseUrl?.() }
  }

  #stopping(): AppError | undefined {
    return this.#isDraining ? new AppError('stopping', 'the platform is shutting down') : undefined
  }

  #overloaded(): AppError | undefined {
    return this.#isFull(1) ? overloaded() : undefined
  }

  #isFull(share: number): boolean {
    return this.#arrivals.size + this.#placed.size >= this.#maxCalls * share
  }

  #begun(arrival: Arrival, leg: Leg): void {
    this.#registry.add(leg)
    this.#tap.attach(arrival.invite, leg.journal)
  }

  #placing(leg: Leg): void {
    this.#placed.add(leg)
    this.#registry.add(leg)
    this.#tap.expect(leg.journal.facts.started.sip_call_id, leg.journal)
  }

  #ended(leg: Leg): void {
    this.#registry.ended(leg)
    this.#checkIdle()
  }

  get #isIdle(): boolean {
    return this.#registry.liveCount === 0 && this.#arrivals.size === 0 && this.#placed.size === 0
  }

  #whenIdle(): Promise<void> {
    if (this.#isIdle) return Promise.resolve()
    return new Promise((resolve) => this.#idleWaiters.push(resolve))
  }

  #checkIdle(): void {
    if (!this.#isIdle) return
    for (const resolve of this.#idleWaiters.splice(0)) resolve()
  }

  async #atMost(ms: number, work: Promise<unknown>): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = this.#options.clock.after(ms, resolve)
    await Promise.race([work, promise])
    timer.cancel()
  }
}

function overloaded(): AppError {
  return new AppError('overloaded', 'the platform is at its capacity')
}

function cancelled(arrival: Arrival, cancel: SipRequest): void {
  arrival.cancel ??= cancel
  arrival.leg?.cancelled(cancel)
}
