// The registration with one carrier, from the first REGISTER to the one that removes it.
import type {
  CarrierRegistration,
  CarrierRegistrationStore,
  RegisterStatus,
} from '../contracts/carrier-registration.ts'
import type { Clock, Timer } from '../lib/clock.ts'
import { randomHex } from '../lib/ids.ts'
import type { Logger } from '../lib/log.ts'
import { serviceRoutes } from './registrar-response.ts'
import { refreshDelayMs, retryDelayMs } from './registration-pace.ts'
import {
  register,
  unregister,
  type RegisterOutcome,
  type RegisterWish,
  type RegisteringSip,
} from './register.ts'
import type { Trunk, TrunkLogin } from './trunks.ts'

export interface RegistrationServices {
  readonly sip: RegisteringSip
  /** Returns the addresses of a host name, or none if it has none. */
  readonly addressesOf: (host: string) => Promise<readonly string[]>
  readonly publicAddress: string | undefined
  readonly clock: Clock
  /** Returns a number from 0 to 1. */
  readonly random: () => number
  readonly log: Logger
  /** Stores the state; `status` is set when a REGISTER was answered, or none is active any more. Must not reject. */
  readonly save: CarrierRegistrationStore['save']
  /** Reports whether this node still registers with the carrier. Called before each REGISTER. */
  readonly mayRegister: () => boolean
  /** Called when the registration begins to fail, or works again after a failure. */
  readonly turned: (trunk: Trunk, status: RegisterStatus) => void
}

export interface RegisteredTrunk extends Trunk {
  readonly login: TrunkLogin
}

const maxAddresses = 32
const leaveMs = 2_000
const spareSequence = 10

export class Registration {
  readonly trunk: RegisteredTrunk
  readonly #services: RegistrationServices
  #known: CarrierRegistration
  #status: RegisterStatus | undefined
  #failures = 0
  #timer: Timer | undefined
  #isOver = false
  /** True if the binding of a REGISTER that is still in progress is to be removed. */
  #isLeft = false

  /** `past` is the state that an earlier process, or another node, has stored. */
  constructor(trunk: RegisteredTrunk, services: RegistrationServices, past: CarrierRegistration | undefined) {
    this.trunk = trunk
    this.#services = services
    this.#known = {
      voip_carrier_sid: trunk.voip_carrier_sid,
      cseq: 0,
      contact: null,
      expiresAt: 0,
      gateway: null,
      addresses: [],
      routes: [],
      ...past,
      callId: past?.callId || randomHex(16),
    }
  }

  get known(): CarrierRegistration {
    return this.#known
  }

  get status(): RegisterStatus | undefined {
    return this.#status
  }

  start(delayMs: number): void {
    this.#after(delayMs)
  }

  /** Stops sending REGISTER. The binding stays. */
  stop(): void {
    this.#isOver = true
    this.#isLeft = false
    this.#timer?.cancel()
  }

  /** Removes the binding, if there is one, within two seconds. */
  async leave(): Promise<void> {
    this.#isOver = true
    this.#isLeft = true
    this.#timer?.cancel()
    const { contact } = this.#known
    if (contact !== null) await this.#atMost(leaveMs, this.#takeBack(contact))
    this.#known = { ...this.#known, contact: null, expiresAt: 0, addresses: [], routes: [] }
    await this.#services.save(this.#known, 'none')
  }

  /** Waits for work that first has to find the registrar and to connect with it, which may take longer. */
  async #atMost(ms: number, work: Promise<void>): Promise<void> {
    const { promise: late, resolve } = Promise.withResolvers<void>()
    const timer = this.#services.clock.after(ms, resolve)
    await Promise.race([work, late]).finally(() => timer.cancel())
  }

  async #takeBack(contact: string): Promise<void> {
    const wish = this.#wish()
    // A REGISTER in progress has used a few of the numbers.
    const from = wish.cseq + spareSequence
    // Noted before, since the wait may end before the response comes: the next REGISTER counts on from there.
    this.#known = { ...this.#known, cseq: from + spareSequence }
    const cseq = await unregister({ ...wish, cseq: from }, contact, this.#services.sip)
    this.#known = { ...this.#known, cseq }
  }

  /**
   * Plans the next run. There is one timer: an error after the next REGISTER was planned must not plan a second one.
   */
  #after(delayMs: number): void {
    this.#timer?.cancel()
    if (!this.#isOver) this.#timer = this.#services.clock.after(delayMs, () => void this.#run())
  }

  async #run(): Promise<void> {
    const { sip, log, random, mayRegister } = this.#services
    if (!mayRegister()) return this.#after(retryDelayMs(unavailableOnce, random()))
    try {
      const outcome = await register(this.#wish(), sip)
      this.#known = { ...this.#known, cseq: Math.max(this.#known.cseq, outcome.cseq) }
      if (this.#isOver) {
        if (!this.#isLeft || outcome.kind !== 'registered') return
        // It is removed where it was granted.
        this.#known = { ...this.#known, gateway: outcome.gateway?.sip_gateway_sid ?? null }
        await this.#takeBack(outcome.contact)
        return
      }
      if (outcome.kind === 'registered') await this.#registered(outcome)
      else await this.#failed(outcome)
    } catch (error) {
      // An internal error for one carrier must not end its registration.
      log.error({ err: error, carrier: this.trunk.voip_carrier_sid }, 'registration with a carrier failed')
      this.#after(retryDelayMs(unavailableOnce, random()))
    }
  }

  async #registered(outcome: Extract<RegisterOutcome, { kind: 'registered' }>): Promise<void> {
    const { clock, random } = this.#services
    const { response, contact, grantedSeconds: seconds, destination, gateway } = outcome
    const before = this.#known
    const now = clock.now()
    this.#failures = 0
    this.#after(refreshDelayMs(seconds, random()))
    this.#known = {
      ...before,
      contact,
      expiresAt: now + seconds * 1000,
      gateway: gateway?.sip_gateway_sid ?? null,
      addresses: this.trunk.login.learnsAddresses ? [destination.address] : [],
      routes: serviceRoutes(response),
    }
    await this.#note({ status: 'ok', reason: `${response.status} ${response.reason}`, expires: seconds })
    // The platform was registered there with another address, or another node registered before.
    if (before.contact !== null && before.contact !== contact && before.expiresAt > now)
      await this.#takeBack(before.contact)
    // DNS may take long; the registration is valid meanwhile.
    await this.#learn(gateway?.host)
  }

  async #failed({
    reason,
    cause,
    retryAfterSeconds,
  }: Extract<RegisterOutcome, { kind: 'failed' }>): Promise<void> {
    this.#failures += 1
    const { random } = this.#services
    const isRefusal = cause === 'refused'
    this.#after(retryDelayMs({ isRefusal, failures: this.#failures, retryAfterSeconds }, random()))
    await this.#note({ status: 'fail', reason, cause, expires: 0 })
  }

  async #note(facts: Pick<RegisterStatus, 'status' | 'reason' | 'cause' | 'expires'>): Promise<void> {
    const { clock, log, save, turned } = this.#services
    const { cseq, callId } = this.#known
    const before = this.#status
    const status: RegisterStatus = { ...facts, cseq, callId, timestamp: clock.now() }
    this.#status = status
    if ((before?.status ?? 'ok') !== status.status) {
      const { voip_carrier_sid: carrier } = this.trunk
      log.info({ carrier, status: status.status, reason: status.reason }, 'registration with a carrier')
      turned(this.trunk, status)
    }
    await save(this.#known, status)
  }

  /** Learns the addresses of the registrar and of its names, from which calls come. */
  async #learn(gateway: string | undefined): Promise<void> {
    const { learnsAddresses, realm } = this.trunk.login
    if (!learnsAddresses) return
    const { addressesOf, save } = this.#services
    const hosts = [gateway, realm].flatMap((host) => host ?? [])
    const found = (await Promise.all(hosts.map((host) => addressesOf(host)))).flat()
    if (this.#isOver || this.#known.contact === null) return
    const addresses = [...new Set([...this.#known.addresses, ...found])].slice(0, maxAddresses)
    if (addresses.length === this.#known.addresses.length) return
    this.#known = { ...this.#known, addresses }
    await save(this.#known, undefined)
  }

  /** Puts the registrar that accepted last first. */
  #wish(): RegisterWish {
    const { gateways, login } = this.trunk
    const isLast = ({ sip_gateway_sid }: Trunk['gateways'][number]): boolean =>
      sip_gateway_sid === this.#known.gateway
    const { callId, cseq } = this.#known
    return {
      login,
      gateways: [...gateways.filter(isLast), ...gateways.filter((gateway) => !isLast(gateway))],
      callId,
      cseq,
      publicAddress: this.#services.publicAddress,
    }
  }
}

const unavailableOnce = { isRefusal: false, failures: 1, retryAfterSeconds: undefined }
