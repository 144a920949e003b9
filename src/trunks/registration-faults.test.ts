// Faults of a registrar, a network and a database: none of them ends a registration, and nothing is retried too fast.
import { beforeEach, describe, expect, it } from 'vitest'
import { granted, type ScriptedRegistrar } from '../../test/support/scripted-registrar.ts'
import {
  first,
  gatewayAt,
  openTrunkStage,
  second,
  trunkOf,
  type TrunkStage,
} from '../../test/support/trunk-stage.ts'
import { headerOf } from '../sip/message/message.ts'
import { AppError } from '../lib/errors.ts'
import { register } from './register.ts'

const challenge = (nonce: string, more = '') => ({
  status: 401,
  lines: [`WWW-Authenticate: Digest realm="carrier.example", nonce="${nonce}"${more}`],
})

describe('a registration', () => {
  let test: TrunkStage
  let registrar: ScriptedRegistrar

  beforeEach(async () => {
    test = await openTrunkStage()
    ;({ registrar } = test)
  })

  const expiresOf = (one: ScriptedRegistrar) => one.requests.map((request) => headerOf(request, 'expires'))
  const passed = (seconds: number) => test.stage.pass(seconds * 1_000)

  it.each([
    ['a challenge that never ends', (n: number) => challenge(`n${n}`, ', stale=true'), 'password is wrong'],
    ['a challenge by proxies', () => ({ status: 407 }), 'password is wrong'],
    [
      'a time that it never takes',
      (n: number) => ({ status: 423, lines: [`Min-Expires: ${4000 + n}`] }),
      '423',
    ],
    ['no time that could be meant', () => ({ status: 423, lines: ['Min-Expires: 999999'] }), '423'],
    ['a 423 without a time', () => ({ status: 423 }), '423'],
    ['a redirect to itself', () => ({ status: 302, lines: [`Contact: <sip:${first}>`] }), '302'],
    [
      'a redirect that leads nowhere',
      () => ({ status: 302, lines: ['Contact: <sip:gone.example>'] }),
      'reached',
    ],
    ['a binding for no time', () => ({ status: 200, lines: ['Expires: 0'] }), 'for no time'],
    ['a redirect without a place', () => ({ status: 302 }), '302'],
  ])('that meets %s gives up after four requests at most, and says why', async (_what, answer, reason) => {
    let count = 0
    registrar.answers = () => answer(++count)
    const node = await test.started()
    await passed(1)
    expect(registrar.requests.length).toBeLessThanOrEqual(4)
    expect(node.registerStatus('c')).toMatchObject({ status: 'fail', expires: 0 })
    expect(node.registerStatus('c')?.reason).toContain(reason)
    const before = registrar.requests.length
    await passed(25)
    expect(registrar.requests).toHaveLength(before)
  })

  it('that is refused for good by one registrar does not bother the next one', async () => {
    test.trunks = [trunkOf({}, [first, second])]
    registrar.answers = () => ({ status: 403, lines: ['Retry-After: 900'] })
    await test.started()
    await passed(880)
    expect([registrar.requests.length, test.spare.requests.length]).toEqual([1, 0])
    await passed(40)
    expect(registrar.requests).toHaveLength(2)
  })

  it('comes back by itself from a registrar that flaps, with one alert for each turn', async () => {
    const turns = [503, 200, 503, 503, 200]
    registrar.answers = (request) => {
      const status = turns.shift() ?? 200
      return status === 200 ? granted(60)(request) : { status }
    }
    await test.started()
    await passed(300)
    expect(test.rows.statuses.map((text) => text.split(':')[0]).slice(0, 5)).toEqual([
      'fail',
      'ok',
      'fail',
      'fail',
      'ok',
    ])
    expect(test.alerts.map(({ alert_type }) => alert_type.replace('carrier-registration-', ''))).toEqual([
      'failure',
      'restored',
      'failure',
      'restored',
    ])
  })

  it('whose time is shorter than any pause is refreshed in time', async () => {
    registrar.answers = granted(30)
    const node = await test.started()
    await passed(120)
    expect(registrar.requests.length).toBeGreaterThanOrEqual(5)
    expect(node.registrarsAt(first)).toEqual(['c'])
  })

  it('is refreshed once at a time, also after a mistake beside it', async () => {
    test.names.get = () => {
      throw new Error('a mistake')
    }
    registrar.answers = granted(60)
    const node = await test.started()
    await passed(300)
    expect(registrar.requests.length).toBeLessThanOrEqual(12)
    expect(node.registerStatus('c')).toMatchObject({ status: 'ok' })
  })

  it('follows its name when the registrar moves while it is down', async () => {
    test.names.set('gw.example', [first])
    test.trunks = [trunkOf({}, ['gw.example'])]
    registrar.answers = () => undefined
    const node = await test.started()
    await passed(9)
    expect(node.registerStatus('c')?.reason).toBe('no response from gw.example')
    test.names.set('gw.example', [second])
    await passed(32)
    expect(node.registerStatus('c')).toMatchObject({ status: 'ok' })
    expect(node.registrarsAt(second)).toEqual(['c'])
  })

  it('says that a name has no address, and needs a gateway or a realm', async () => {
    test.trunks = [trunkOf({}, ['gone.example']), { ...trunkOf({ realm: null }, []), voip_carrier_sid: 'd' }]
    const node = await test.started()
    expect(node.registerStatus('c')?.reason).toMatch(/^gone\.example cannot be reached: /)
    expect(node.registerStatus('d')?.reason).toContain('neither an outbound gateway nor register_sip_realm')
    expect(test.alerts).toHaveLength(2)
  })

  it('remembers 32 addresses of a name at most', async () => {
    test.names.set(
      'carrier.example',
      Array.from({ length: 40 }, (_, index) => `198.51.100.${index}`),
    )
    const node = await test.started()
    expect(node.registrarsAt('198.51.100.30')).toEqual(['c'])
    expect(node.registrarsAt('198.51.100.31')).toEqual([])
  })

  it('is not made any more by a node that has lost the database for 15 seconds, and made again once it is back', async () => {
    registrar.answers = granted(40)
    const node = await test.started()
    test.rows.isGone = true
    await passed(90)
    expect(registrar.requests.length).toBeLessThanOrEqual(2)
    expect(node.registrarsAt(first)).toEqual([])
    test.rows.isGone = false
    await passed(40)
    expect(node.registrarsAt(first)).toEqual(['c'])
  })

  it('that is granted after the carrier was removed is taken back', async () => {
    let answered = 0
    test.stage.network.drops = (message) => message.kind === 'response' && answered++ < 2
    await test.started()
    expect(registrar.requests).toHaveLength(1)
    await test.change([])
    await passed(4)
    expect(expiresOf(registrar)).toEqual(['3600', '0'])
    expect(test.rows.holders.size).toBe(0)
  })

  it('that another gateway grants after the carrier was removed is taken back there', async () => {
    test.trunks = [trunkOf({}, [first, second])]
    registrar.answers = () => undefined
    let answered = 0
    test.stage.network.drops = (message) => message.kind === 'response' && answered++ < 2
    await test.started()
    await passed(8)
    expect(test.spare.requests).toHaveLength(1)
    await test.change([])
    await passed(4)
    expect(expiresOf(test.spare)).toEqual(['3600', '0'])
  })

  it('takes back the Contact under which an earlier process was known', async () => {
    const known = { callId: 'old', cseq: 40, gateway: null, addresses: [], routes: [] }
    const contact = '<sip:me@198.51.100.9:5060>'
    test.rows.kept.set('c', { ...known, voip_carrier_sid: 'c', contact, expiresAt: 4_000_000_000_000 })
    await test.started()
    const [made, taken] = registrar.requests
    expect(headerOf(made!, 'call-id')).toBe('old')
    expect(headerOf(made!, 'cseq')).toBe('41 REGISTER')
    expect(headerOf(taken!, 'contact')).toBe(`${contact};expires=0`)
  })

  it('is left alone while its gateway is only watched or no more, and made again where it is elsewhere', async () => {
    await test.started()
    await test.change([{ ...trunkOf(), gateways: [{ ...gatewayAt(first), isWatched: true }] }])
    expect(registrar.requests.filter(({ method }) => method === 'REGISTER')).toHaveLength(1)
    await test.change([trunkOf({}, [second])])
    expect(expiresOf(registrar).filter(Boolean)).toEqual(['3600', '0'])
    expect(expiresOf(test.spare)).toEqual(['3600'])
  })

  it('over TLS is asked for with sips: where the gateway wants that, and not over a connection that is not believed', async () => {
    const secure = { ...gatewayAt(first), protocol: 'tls', use_sips_scheme: true } as const
    test.trunks = [{ ...trunkOf(), gateways: [secure] }]
    await test.started()
    const [request] = registrar.requests
    expect(request?.uri).toBe('sips:carrier.example')
    expect(headerOf(request!, 'to')).toBe('<sips:me@carrier.example>')
    expect(headerOf(request!, 'contact')).toContain('<sips:me@')
    const { agent } = test.stage
    const resolve = async () => ({ transport: 'tls', address: second, port: 5061, name: 'gw' }) as const
    const open = () => Promise.reject(new AppError('sip_unreachable', 'its certificate has expired'))
    const wish = {
      login: test.trunks[0]!.login!,
      gateways: [secure],
      callId: 'x',
      cseq: 1,
      publicAddress: undefined,
    }
    const sip = {
      request: agent.request.bind(agent),
      addressFor: agent.addressFor.bind(agent),
      resolve,
      open,
    }
    const outcome = await register(wish, sip)
    expect(outcome).toMatchObject({ kind: 'failed', cause: 'unreachable' })
    expect(JSON.stringify(outcome)).toContain('its certificate has expired')
    expect(registrar.requests).toHaveLength(1)
  })
})
