// The registrations with carriers that this node holds: they follow the rows of the carriers.
import type { Alerts } from '../contracts/alert.ts'
import type {
  CarrierRegistration,
  CarrierRegistrationStore,
  RegisterStatus,
} from '../contracts/carrier-registration.ts'
import type { Clock, Timer } from '../lib/clock.ts'
import type { Logger } from '../lib/log.ts'
import { createTokenBuckets, type TokenBuckets } from '../lib/bounds/token-buckets.ts'
import { Registration, type RegisteredTrunk, type RegistrationServices } from './carrier-registration.ts'
import { GatewayWatch } from './gateway-watch.ts'
import { raiseGatewayTurned, raiseTurned } from './trunk-alerts.ts'
import type {
  GatewaySign,
  Ping,
  Trunk,
  TrunkDirectory,
  TrunkGateway,
  Trunks,
  WatchedGateway,
} from './trunks.ts'

export interface TrunksOptions extends Pick<
  RegistrationServices,
  'sip' | 'addressesOf' | 'publicAddress' | 'random'
> {
  readonly directory: TrunkDirectory
  readonly store: CarrierRegistrationStore
  readonly alerts: Alerts
  /** As in GatewayWatchOptions. */
  readonly demandName?: (name: string) => void
  readonly clock: Clock
  readonly log: Logger
}

const lookEveryMs = 500
// How often the node renews its hold on carriers: another node may have considered this one dead, or have left carriers
// behind.
const holdEveryMs = 5_000
// How long a hold lasts: three attempts to renew it. After that another node may register.
const heldForMs = 15_000
// At a start, registrations are spread, so that they are not all refreshed together.
const spreadMs = { each: 20, max: 3_000 }

export function createTrunks(options: TrunksOptions): Trunks {
  return new CarrierTrunks(options)
}

// A person who sets up a carrier tries, changes a field, and tries again. Each test may be a call that costs money.
const testLimit = { capacity: 6, refillMs: 600_000 }

class CarrierTrunks implements Trunks {
  readonly name = 'trunks'
  readonly #options: TrunksOptions
  readonly #watch: GatewayWatch
  readonly #tests: TokenBuckets
  readonly #registrations = new Map<string, Registration>()
  /** The registrations of other nodes, and of earlier processes. */
  #others: ReadonlyMap<string, CarrierRegistration> = new Map()
  /** The carriers that this node registers with. */
  #mine: ReadonlySet<string> = new Set()
  #revision = Number.NaN
  #heldAt = Number.NEGATIVE_INFINITY
  #timer: Timer | undefined
  #looking: Promise<void> = Promise.resolve()
  #isFailing = false
  #isStopped = false

  constructor(options: TrunksOptions) {
    this.#options = options
    const { alerts } = options
    this.#tests = createTokenBuckets(options.clock)
    this.#watch = new GatewayWatch({
      ...options,
      turned: (trunk, gateway, ping) => {
        // All nodes ping, and the carrier's node raises the alert. Microsoft may be reachable for some nodes only, so
        // each raises its own.
        if (this.#mine.has(trunk.voip_carrier_sid) || gateway.ourName !== undefined)
          raiseGatewayTurned(trunk, gateway, ping, alerts)
      },
    })
  }

  async start(): Promise<void> {
    this.#isStopped = false
    this.#looking = this.#look()
    await this.#looking
  }

  async stop(): Promise<void> {
    if (this.#isStopped) return
    this.#isStopped = true
    this.#timer?.cancel()
    this.#watch.stop()
    await this.#looking
    const leaving = [...this.#registrations.values()]
    await Promise.all(leaving.map((registration) => registration.leave()))
    this.#registrations.clear()
    await this.#options.store
      .release([...this.#mine])
      .catch((error: unknown) =>
        this.#options.log.warn({ err: error }, 'carriers could not be released to other nodes'),
      )
  }

  registerStatus(voip_carrier_sid: string): RegisterStatus | undefined {
    return this.#registrations.get(voip_carrier_sid)?.status
  }

  isUp(sip_gateway_sid: string): boolean {
    return this.#watch.isUp(sip_gateway_sid)
  }

  noted(sip_gateway_sid: string, sign: GatewaySign): void {
    this.#watch.noted(sip_gateway_sid, sign)
  }

  watched(sip_gateway_sid: string): WatchedGateway | undefined {
    return this.#watch.of(sip_gateway_sid)
  }

  ping(gateway: TrunkGateway): Promise<Ping> {
    return this.#watch.ping(gateway)
  }

  takeTest(voip_carrier_sid: string): number {
    return this.#tests.take(voip_carrier_sid, testLimit)
  }

  registeredOver(voip_carrier_sid: string): string | undefined {
    return this.#live(voip_carrier_sid)?.gateway ?? undefined
  }

  routesOf(voip_carrier_sid: string): readonly string[] {
    return this.#live(voip_carrier_sid)?.routes ?? []
  }

  registrarsAt(address: string): readonly string[] {
    const sids = new Set([...this.#registrations.keys(), ...this.#others.keys()])
    return [...sids].filter((sid) => this.#live(sid)?.addresses.includes(address) === true)
  }

  #live(voip_carrier_sid: string): CarrierRegistration | undefined {
    const known = this.#registrations.get(voip_carrier_sid)?.known ?? this.#others.get(voip_carrier_sid)
    return known !== undefined && known.expiresAt > this.#options.clock.now() ? known : undefined
  }

  async #look(): Promise<void> {
    const { directory, clock, log } = this.#options
    try {
      const revision = directory.revision()
      const isDue = clock.monotonic() - this.#heldAt >= holdEveryMs
      if (isDue || revision !== this.#revision) {
        await this.#follow(await directory.trunks(), await directory.teams())
        this.#revision = revision
      }
      this.#isFailing = false
    } catch (error) {
      if (!this.#isFailing)
        log.warn({ err: error }, 'carriers cannot be read: registrations stay as they are')
      this.#isFailing = true
    }
    if (this.#isStopped) return
    this.#timer = clock.after(lookEveryMs, () => {
      this.#looking = this.#look()
    })
  }

  async #follow(trunks: readonly Trunk[], teams: readonly Trunk[]): Promise<void> {
    const { store, clock } = this.#options
    const wanted = new Map(trunks.filter(isRegistered).map((trunk) => [trunk.voip_carrier_sid, trunk]))
    const beganAt = clock.monotonic()
    const mine = await store.hold(trunks.map(({ voip_carrier_sid }) => voip_carrier_sid))
    const left = [...this.#mine].filter(
      (sid) => !trunks.some(({ voip_carrier_sid }) => voip_carrier_sid === sid),
    )
    this.#mine = mine
    this.#watch.follow([...trunks, ...teams])
    this.#heldAt = beganAt
    this.#others = new Map((await store.load()).map((one) => [one.voip_carrier_sid, one]))
    await this.#end(
      (sid) => mine.has(sid) && wanted.has(sid),
      (sid) => wanted.has(sid),
    )
    await store.release(left)
    const held = [...wanted.values()].filter(({ voip_carrier_sid }) => mine.has(voip_carrier_sid))
    const spread = Math.min(held.length * spreadMs.each, spreadMs.max)
    await Promise.all(held.map((trunk) => this.#keep(trunk, spread)))
  }

  /** Ends registrations. Another node takes over those that are still wanted; the rest are removed. */
  async #end(isMine: (sid: string) => boolean, isWanted: (sid: string) => boolean): Promise<void> {
    const ended = [...this.#registrations].filter(([sid]) => !isMine(sid))
    for (const [sid] of ended) this.#registrations.delete(sid)
    await Promise.all(
      ended.map(async ([sid, registration]) => (isWanted(sid) ? registration.stop() : registration.leave())),
    )
  }

  async #keep(trunk: RegisteredTrunk, spread: number): Promise<void> {
    const { voip_carrier_sid: sid } = trunk
    const present = this.#registrations.get(sid)
    if (present === undefined) {
      const delayMs = this.#options.random() * spread
      return this.#begin(new Registration(trunk, this.#services(), this.#others.get(sid)), delayMs)
    }
    if (isSame(factsOf(present.trunk), factsOf(trunk))) return
    // A binding of another user or registrar would bring calls that nothing takes.
    if (isSame(placeOf(present.trunk), placeOf(trunk))) present.stop()
    else await present.leave()
    const { contact, expiresAt, gateway, addresses, routes } = present.known
    const past = { ...present.known, callId: '', cseq: 0, contact, expiresAt, gateway, addresses, routes }
    this.#begin(new Registration(trunk, this.#services(), past), 0)
  }

  #begin(registration: Registration, delayMs: number): void {
    this.#registrations.set(registration.trunk.voip_carrier_sid, registration)
    registration.start(delayMs)
  }

  #services(): RegistrationServices {
    const { store, alerts, clock, log } = this.#options
    return {
      ...this.#options,
      mayRegister: () => !this.#isStopped && clock.monotonic() - this.#heldAt < heldForMs,
      turned: (trunk, status) => raiseTurned(trunk, status, alerts),
      save: (registration, status) =>
        store
          .save(registration, status)
          .catch((error: unknown) =>
            log.warn({ err: error }, 'a registration with a carrier could not be written'),
          ),
    }
  }
}

function isRegistered(trunk: Trunk): trunk is RegisteredTrunk {
  return trunk.login !== undefined
}

/** Returns the user and the place of a registration. */
function placeOf({ login, gateways }: RegisteredTrunk): object {
  const { username, realm } = login
  return { username, realm, gateways: gateways.map(withoutWatch) }
}

/** Returns the facts that a REGISTER depends on. */
function factsOf({ login, gateways }: RegisteredTrunk): object {
  return { login, gateways: gateways.map(withoutWatch) }
}

function withoutWatch({ isWatched: _isWatched, ...gateway }: TrunkGateway): object {
  return gateway
}

function isSame(a: object, b: object): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}
