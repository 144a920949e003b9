// Carriers on a fake network: nodes of the platform that register with them, their registrars, and the rows that nodes share.
import type { Alert } from '../../src/contracts/alert.ts'
import type {
  CarrierRegistration,
  CarrierRegistrationStore,
} from '../../src/contracts/carrier-registration.ts'
import { AppError } from '../../src/lib/errors.ts'
import { silentLogger } from '../../src/lib/log.ts'
import { createTrunks } from '../../src/trunks/create-trunks.ts'
import type { Trunk, TrunkGateway, TrunkLogin, Trunks } from '../../src/trunks/trunks.ts'
import { attachRegistrar, type ScriptedRegistrar } from './scripted-registrar.ts'
import { openStage, type Stage } from './sip-stage.ts'

export const first = '192.0.2.10'
export const second = '192.0.2.11'

export const login: TrunkLogin = {
  username: 'me',
  password: 'secret',
  realm: 'carrier.example',
  fromUser: null,
  fromDomain: null,
  hasPublicContact: false,
  learnsAddresses: true,
}

export const gatewayAt = (host: string): TrunkGateway => ({
  sip_gateway_sid: `gateway ${host}`,
  host,
  port: null,
  protocol: 'udp',
  use_sips_scheme: false,
  isWatched: false,
})

export const trunkOf = (changes: Partial<TrunkLogin> = {}, hosts: readonly string[] = [first]): Trunk => ({
  voip_carrier_sid: 'c',
  name: 'Acme',
  owner: { account_sid: 'a' },
  login: { ...login, ...changes },
  gateways: hosts.map(gatewayAt),
})

/** The rows of one database, which several nodes may share. */
export class Rows {
  /** Whether the database is out of reach. */
  isGone = false
  readonly kept = new Map<string, CarrierRegistration>()
  readonly statuses: string[] = []
  readonly holders = new Map<string, string>()

  storeOf(node: string): CarrierRegistrationStore {
    return {
      load: async () => [...this.kept.values()],
      hold: async (sids) => {
        if (this.isGone) throw new Error('the database is gone')
        for (const sid of sids) if (!this.holders.has(sid)) this.holders.set(sid, node)
        return new Set(sids.filter((sid) => this.holders.get(sid) === node))
      },
      save: async (registration, status) => {
        if (this.holders.get(registration.voip_carrier_sid) !== node) return
        this.kept.set(registration.voip_carrier_sid, registration)
        if (status === 'none') this.statuses.push(status)
        else if (status !== undefined) this.statuses.push(`${status.status}: ${status.reason}`)
      },
      release: async (sids) => {
        for (const sid of sids) if (this.holders.get(sid) === node) this.holders.delete(sid)
      },
    }
  }
}

export interface TrunkStage {
  readonly stage: Stage
  /** The registrar at `first` and `second`. */
  readonly registrar: ScriptedRegistrar
  readonly spare: ScriptedRegistrar
  readonly rows: Rows
  readonly alerts: Alert[]
  /**
   * The addresses of host names. The look-up of `slow.example` does not end while it is not among them; that of
   * `late.example` takes 100 ms.
   */
  readonly names: Map<string, readonly string[]>
  trunks: readonly Trunk[]
  nodeOf(name?: string): Trunks
  /** Returns a node that has run for a second. */
  started(name?: string): Promise<Trunks>
  change(next: readonly Trunk[]): Promise<void>
}

export async function openTrunkStage(): Promise<TrunkStage> {
  const names = new Map<string, readonly string[]>()
  const stage: Stage = await openStage({
    resolve: async (uri) => {
      const host = /^sips?:([^;]+)/.exec(uri)?.[1] ?? ''
      if (host === 'slow.example' && !names.has(host)) return new Promise(() => undefined)
      if (host === 'late.example') await new Promise<void>((resolve) => stage.clock.after(100, resolve))
      const address = /^[\d.]+$/.test(host) ? host : names.get(host)?.[0]
      if (address === undefined) throw new AppError('sip_unreachable', 'the host of the URI has no address')
      const isSecure = uri.startsWith('sips:') || uri.includes(';transport=tls')
      return { transport: isSecure ? 'tls' : 'udp', address, port: 5060 }
    },
  })
  let revision = 1
  const test: TrunkStage = {
    stage,
    registrar: attachRegistrar(stage.network, first),
    spare: attachRegistrar(stage.network, second),
    rows: new Rows(),
    alerts: [],
    names,
    trunks: [trunkOf()],
    nodeOf: (name = 'n1') =>
      createTrunks({
        sip: stage.agent,
        directory: { trunks: async () => test.trunks, teams: async () => [], revision: () => revision },
        store: test.rows.storeOf(name),
        alerts: { raise: (alert) => void test.alerts.push(alert) },
        addressesOf: async (host) => names.get(host) ?? [],
        publicAddress: '203.0.113.9',
        random: () => 0,
        clock: stage.clock,
        log: silentLogger,
      }),
    async started(name) {
      const node = test.nodeOf(name)
      await node.start()
      await stage.pass(1_000)
      return node
    },
    async change(next) {
      test.trunks = next
      revision += 1
      await stage.pass(1_500)
    },
  }
  return test
}
