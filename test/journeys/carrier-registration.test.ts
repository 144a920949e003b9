// The platform's registration with a carrier whose registrar is Kamailio, behind SRV records of BIND, the first of
// which leads to a dead server: calls in and out use it.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startBind, type NameServer } from '../support/bind.ts'
import { startApplication, type Application } from '../support/application.ts'
import { callFromCarrier, freshAddress, refusedCall } from '../support/carrier.ts'
import { startRegistrar, type Arrival, type Registrar } from '../support/kamailio-registrar.ts'
import {
  provision,
  recentCalls,
  startPlatform,
  type Platform,
  type Tenant,
} from '../support/platform-process.ts'
import { freePorts } from '../support/ports.ts'
import { isMissing } from '../support/tools.ts'
import { until } from '../support/wait.ts'

const password = 'trunk-secret'

interface Registered {
  readonly register_status: { readonly status?: string; readonly reason?: string; readonly expires?: number }
}

interface Tried {
  readonly ok: boolean
  readonly steps: readonly { readonly step: string; readonly ok: boolean; readonly reason: string }[]
}

describe.skipIf(isMissing('sipp', 'kamailio', 'bind'))('a carrier that the platform registers with', () => {
  let application: Application
  let platform: Platform
  let tenant: Tenant
  let registrar: Registrar
  let names: NameServer
  let carrier: string
  let testOfSilent: Promise<Tried>

  beforeAll(async () => {
    application = await startApplication()
    application.on('/status', { status: 200 })
    application.on('/call', { json: [{ verb: 'answer' }, { verb: 'hangup' }] })
    const namesPort = await freePorts(1)
    platform = await startPlatform({ env: { SWITCHHOOK_NAME_SERVERS: `127.0.0.1:${namesPort}` } })
    tenant = await provision(platform.api, { application })
    registrar = await startRegistrar(platform.sip, password, { hasFaultyPorts: true })
    // The cases of registrar-faults.test.ts cover a dead server before it, which only costs time.
    names = await startBind({
      port: namesPort,
      records: [`_sip._udp.trunk IN SRV 10 0 ${registrar.port} ns`],
    })
    const { account_sid, application_sid } = tenant
    const { sid } = await platform.api.must<{ sid: string }>('POST', '/VoipCarriers', {
      name: 'Kamailio Telecom',
      account_sid,
      application_sid,
      trunk_type: 'reg',
      requires_register: 1,
      register_username: 'trunk1',
      register_password: password,
      register_sip_realm: 'carrier.example',
    })
    carrier = sid
    const place = { ipv4: `trunk.${names.zone}`, port: null, outbound: true, send_options_ping: 1 }
    await platform.api.must('POST', '/SipGateways', { voip_carrier_sid: carrier, ...place })
    testOfSilent = testSilent()
    testOfSilent.catch(() => undefined)
  })

  /** Tests a silent gateway, which takes 15 seconds, in parallel with the other tests. */
  async function testSilent(): Promise<Tried> {
    const owner = { account_sid: tenant.account_sid }
    const body = { name: 'Silent Telecom', ...owner }
    const { sid: voip_carrier_sid } = await platform.api.must<{ sid: string }>('POST', '/VoipCarriers', body)
    const place = { ipv4: registrar.address, port: registrar.faulty.silent, outbound: true }
    await platform.api.must('POST', '/SipGateways', { voip_carrier_sid, ...place })
    return platform.api.must<Tried>('POST', `/VoipCarriers/${voip_carrier_sid}/Test`, { to: '+15550198' })
  }

  afterAll(async () => {
    await platform?.remove()
    await registrar?.stop()
    await names?.stop()
    await application?.close()
  })

  const turned = (status: string): Promise<Registered['register_status']> =>
    until(`the registration to be ${status}`, async () => {
      const { register_status } = await platform.api.must<Registered>('GET', `/VoipCarriers/${carrier}`)
      return register_status.status === status && register_status
    })

  it('the platform registers with the carrier immediately, and the registration is healthy', async () => {
    expect(await turned('ok')).toMatchObject({ reason: '200 OK', expires: 3600 })
    const health = await platform.api.must('GET', `/VoipCarriers/${carrier}/Health`)
    expect(health).toMatchObject({ condition: 'up', registration: { status: 'ok' } })
  })

  it('calls of the carrier arrive at the registered Contact, and are routed by the number in To', async () => {
    const { code, report } = await callFromCarrier(
      { sip: registrar },
      { address: freshAddress() },
      '15550177',
    )
    expect(code, report).toBe(0)
    const [record] = await recentCalls(platform.api, tenant.account_sid, 1)
    expect(record).toMatchObject({ to: '15550177', answered: true, trunk: 'Kamailio Telecom' })
  })

  it('the carrier accepts calls with the name and password of the registration, as its test shows', async () => {
    const tried = await platform.api.must<Tried>('POST', `/VoipCarriers/${carrier}/Test`, {
      to: '+15550199',
      from: '+15550100',
    })
    expect(tried).toMatchObject({
      ok: true,
      steps: [
        { step: 'registration', ok: true },
        { step: 'options', ok: true, reason: '200 OK' },
        { step: 'call', ok: true, reason: 'the called party was reached: 486 Busy Here' },
      ],
    })
    expect(registrar.passed()).toContain('INVITE from sip:15550199@carrier.example;transport=udp')
  })

  it('a stranger who is not the carrier gets 404, and a log line names the address', async () => {
    const address = freshAddress()
    await refusedCall(platform, { address }, '15550177', 404)
    await platform.process.lines.next(
      'the line',
      (line) =>
        line.includes('call from an unknown address refused with 404') &&
        line.includes(address) &&
        line.includes('"code":"unknown_realm"'),
    )
  })

  describe('a first gateway with a fault', () => {
    const faults = ['silent', 'overloaded', 'moved'] as const
    let numbers = 15_550_200

    beforeAll(async () => {
      const { account_sid } = tenant
      const login = { register_username: 'trunk1', register_password: password }
      for (const name of faults) {
        const body = { name, account_sid, ...login }
        const { sid } = await platform.api.must<{ sid: string }>('POST', '/VoipCarriers', body)
        for (const port of [registrar.faulty[name], registrar.port]) {
          const place = { ipv4: registrar.address, port, outbound: true }
          await platform.api.must('POST', '/SipGateways', { voip_carrier_sid: sid, ...place })
        }
      }
    })

    /** Returns where the INVITEs of a call over the carrier arrive, up to the gateway without faults. */
    async function callOver(trunk: (typeof faults)[number]): Promise<readonly Arrival[]> {
      const number = String(numbers++)
      const { account_sid, application_sid } = tenant
      const to = { type: 'phone', number, trunk }
      const body = { application_sid, from: '15550199', to }
      await platform.api.must('POST', `/Accounts/${account_sid}/Calls`, body)
      return until(`the call of ${number}`, () => {
        const came = registrar.arrivals().filter(({ method, user }) => method === 'INVITE' && user === number)
        return came.some(({ port }) => port === registrar.port) && came
      })
    }

    it.each([
      ['does not respond moves on in two seconds, the next call immediately', 'silent', [1.9, 4], true],
      [
        'responds 503 with Retry-After moves on immediately, the next call avoids it',
        'overloaded',
        [0, 1.5],
        true,
      ],
      ['responds 302 follows it each time', 'moved', [0, 1.5], false],
    ] as const)('a call over a first gateway that %s', async (_what, fault, [least, most], rests) => {
      const came = await callOver(fault)
      expect(came[0]!.port).toBe(registrar.faulty[fault])
      const seconds = came.find(({ port }) => port === registrar.port)!.at - came[0]!.at
      expect(seconds).toBeGreaterThan(least)
      // The rest is a margin for a busy machine.
      expect(seconds).toBeLessThan(most)
      const [next] = await callOver(fault)
      expect(next!.port).toBe(rests ? registrar.port : registrar.faulty[fault])
    })
  })

  it('a wrong password is reported, a right one registers, and switching off or removal unregisters', async () => {
    const path = `/VoipCarriers/${carrier}`
    await platform.api.must('PUT', path, { register_password: 'wrong' })
    expect((await turned('fail')).reason).toContain('register_username or register_password is wrong')
    await platform.api.must('PUT', path, { register_password: password })
    await turned('ok')
    const takenBack = (times: number): Promise<unknown> =>
      until('the registration to be taken back', () => {
        return registrar.passed().filter((what) => what === 'REGISTER from 0').length === times
      })
    await platform.api.must('PUT', path, { is_active: 0 })
    await takenBack(1)
    const { register_status } = await platform.api.must<Registered>('GET', path)
    expect(register_status).toEqual({})
    await platform.api.must('PUT', path, { is_active: 1 })
    await turned('ok')
    await platform.api.must('DELETE', path)
    await takenBack(2)
  })

  // The test of the silent gateway began before all others.
  it('the test of a silent carrier fails, and says so with a cure', async () => {
    const { ok, steps } = await testOfSilent
    expect(ok).toBe(false)
    const cure = expect.stringContaining('Check ipv4, port and protocol') as string
    expect(steps).toMatchObject([
      { step: 'options', ok: false, reason: expect.stringContaining('no response from') as string, cure },
      { step: 'call', ok: false, reason: 'no gateway has sent any response to INVITE', cure },
    ])
  })
})
