// Faults of carriers, caused by a real Kamailio behind a real BIND: registrations recover by themselves, and report the
// fault meanwhile. The clocks are hastened, since the longest pause between tries is an hour.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startBind, type NameServer } from '../support/bind.ts'
import { createHastenedClock } from '../support/hastened-clock.ts'
import {
  otherAddress,
  retryAfterSeconds,
  startRegistrar,
  type Arrival,
  type Registrar,
} from '../support/kamailio-registrar.ts'
import { freePorts } from '../support/ports.ts'
import { isMissing } from '../support/tools.ts'
import { Rows, gatewayAt, trunkOf } from '../support/trunk-stage.ts'
import { until } from '../support/wait.ts'
import type { Alert } from '../../src/contracts/alert.ts'
import { silentLogger } from '../../src/lib/log.ts'
import { createNames } from '../../src/network/create-names.ts'
import { createSip } from '../../src/sip/create-sip.ts'
import type { Sip } from '../../src/sip/sip.ts'
import { createTrunks } from '../../src/trunks/create-trunks.ts'
import type { Trunk, Trunks } from '../../src/trunks/trunks.ts'

const password = 'trunk-secret'
/** Half a minute between tries takes half a second; the eight seconds that a silent registrar gets take about 1.3. */
const [trunkHaste, sipHaste] = [60, 6]
/** The granted time in seconds; the registration is refreshed every half a minute. */
const granted = 60

describe.skipIf(isMissing('kamailio', 'bind'))('a registration with Kamailio', () => {
  let registrar: Registrar
  let names: NameServer
  let sip: Sip & { stop(): Promise<void> }
  let node: Trunks
  let trunks: readonly Trunk[] = []
  let revision = 1
  const rows = new Rows()
  const alerts: Alert[] = []

  const trunk = (name: string, host: string, port: number | null): Trunk => {
    const login = { username: name, password, realm: 'carrier.example', learnsAddresses: true }
    const { login: usual, ...rest } = trunkOf(login, [])
    const gateway = { ...gatewayAt(host), sip_gateway_sid: `gateway of ${name}`, port }
    return { ...rest, voip_carrier_sid: name, name, login: usual, gateways: [gateway] }
  }

  beforeAll(async () => {
    const [namesPort, dead] = [await freePorts(1), await freePorts(1)]
    const clock = createHastenedClock(sipHaste)
    const found = createNames({ servers: [`127.0.0.1:${namesPort}`], clock })
    const agent = createSip({
      bind: '127.0.0.1',
      port: 0,
      directory: { realmState: async () => 'unknown', findUser: async () => undefined },
      handlers: { invited: (invite) => invite.reject({ status: 480 }) },
      clock,
      log: silentLogger,
      userAgent: 'Switchhook',
      lookup: found.lookup,
      names: found,
    })
    await agent.start()
    sip = agent
    const { port } = agent.listening
    const options = { hasFaultyPorts: true, maxExpires: granted }
    registrar = await startRegistrar({ address: '127.0.0.1', port }, password, options)
    const { faulty } = registrar
    const service = '_sip._udp.pair IN SRV'
    const records = [`${service} 10 0 ${dead} ns`, `${service} 20 0 ${registrar.port} ns`]
    names = await startBind({ port: namesPort, records: [...records, 'moving 1 IN A 127.0.0.1'] })
    trunks = [
      trunk('flapping', '127.0.0.1', registrar.port),
      trunk('pair', `pair.${names.zone}`, null),
      trunk('moving', `moving.${names.zone}`, registrar.port),
      trunk('redirected', '127.0.0.1', faulty.moved),
      trunk('overloaded', '127.0.0.1', faulty.overloaded),
      trunk('silent', '127.0.0.1', faulty.silent),
    ]
    node = createTrunks({
      sip: agent,
      directory: { trunks: async () => trunks, teams: async () => [], revision: () => revision },
      store: rows.storeOf('n1'),
      alerts: { raise: (alert) => void alerts.push(alert) },
      addressesOf: (host) =>
        found.lookup(host).then(
          (addresses) => addresses.map(({ address }) => address),
          () => [],
        ),
      publicAddress: undefined,
      random: () => 0,
      clock: createHastenedClock(trunkHaste),
      log: silentLogger,
    })
    await node.start()
  })

  afterAll(async () => {
    await node?.stop()
    await sip?.stop()
    await registrar?.stop()
    await names?.stop()
  })

  const is = (name: string, status: 'ok' | 'fail', reason: RegExp): Promise<unknown> =>
    until(`${name} to be ${status}`, () => {
      const now = node.registerStatus(name)
      return now?.status === status && reason.test(now.reason)
    })

  const arrivalsOf = (name: string): readonly Arrival[] =>
    registrar.arrivals().filter(({ method, user }) => method === 'REGISTER' && user === name)

  const alertsOf = (name: string): readonly string[] =>
    alerts
      .filter(
        ({ message }) => message.includes(`carrier ${name} `) || message.endsWith(`carrier ${name} again`),
      )
      .map(({ alert_type }) => alert_type.replace('carrier-registration-', ''))

  it('a registration uses the second server if the first is dead, and follows a 302', async () => {
    await Promise.all(['flapping', 'pair', 'moving', 'redirected'].map((name) => is(name, 'ok', /^200 OK$/)))
    const ports = arrivalsOf('redirected').map(({ port }) => port)
    // The registrar requests the password first.
    expect(ports.slice(0, 3)).toEqual([registrar.faulty.moved, registrar.port, registrar.port])
  })

  it('a silent or overloaded registrar is reported, and Retry-After is followed by recovery', async () => {
    await is('silent', 'fail', /^no response from 127\.0\.0\.1:\d+$/)
    await is('overloaded', 'fail', /^503 Overloaded from /)
    const [first, second] = await until('the second try', () => {
      const found = arrivalsOf('overloaded')
      return found.length > 1 && found
    })
    expect((second!.at - first!.at) * trunkHaste).toBeGreaterThanOrEqual(retryAfterSeconds)
    expect([alertsOf('silent'), alertsOf('overloaded')]).toEqual([['failure'], ['failure']])
  })

  it('a registration follows its registrar’s name to a new address, which may then send calls', async () => {
    expect(node.registrarsAt('127.0.0.1')).toContain('moving')
    await names.move('moving', otherAddress)
    await until('the registration to move', () => node.registrarsAt(otherAddress).includes('moving'))
    expect(node.registrarsAt('127.0.0.1')).not.toContain('moving')
    expect(arrivalsOf('moving').at(-1)).toMatchObject({ address: otherAddress })
    expect(alertsOf('moving')).toEqual([])
  })

  it('a registration fails while all its registrars are dead, and recovers by itself', async () => {
    await registrar.kill()
    const gone = ['flapping', 'pair'].map((name) => is(name, 'fail', /^no response from /))
    await Promise.all(gone)
    await registrar.restart(password)
    await Promise.all(['flapping', 'pair', 'moving', 'redirected'].map((name) => is(name, 'ok', /^200 OK$/)))
    for (const name of ['flapping', 'pair']) expect(alertsOf(name)).toEqual(['failure', 'restored'])
  })

  it('a password that the carrier changed is reported, and the new one registers immediately', async () => {
    await registrar.kill()
    await registrar.restart('changed')
    await is('flapping', 'fail', /^401 .*register_username or register_password is wrong$/)
    trunks = trunks.map((one) =>
      one.name === 'flapping' ? { ...one, login: { ...one.login!, password: 'changed' } } : one,
    )
    revision += 1
    await is('flapping', 'ok', /^200 OK$/)
  })
})
