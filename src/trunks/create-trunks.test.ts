import { beforeEach, describe, expect, it } from 'vitest'
import { granted, type ScriptedRegistrar } from '../../test/support/scripted-registrar.ts'
import type { Stage } from '../../test/support/sip-stage.ts'
import {
  first,
  openTrunkStage,
  second,
  trunkOf,
  type Rows,
  type TrunkStage,
} from '../../test/support/trunk-stage.ts'
import type { Alert } from '../contracts/alert.ts'
import { cseqOf } from '../sip/message/cseq.ts'
import { headerOf, type SipRequest } from '../sip/message/message.ts'
import type { Trunk, Trunks } from './trunks.ts'

describe('the registration with a carrier', () => {
  let test: TrunkStage
  let stage: Stage
  let registrar: ScriptedRegistrar
  let spare: ScriptedRegistrar
  let rows: Rows
  let alerts: readonly Alert[]
  let names: Map<string, readonly string[]>

  beforeEach(async () => {
    test = await openTrunkStage()
    ;({ stage, registrar, spare, rows, alerts, names } = test)
  })

  const nodeOf = (name?: string): Trunks => test.nodeOf(name)
  const started = (name?: string): Promise<Trunks> => test.started(name)
  const change = (next: readonly Trunk[]): Promise<void> => test.change(next)

  const said = (requests: readonly SipRequest[], name: string) => requests.map((one) => headerOf(one, name))
  const lastOf = ({ requests }: ScriptedRegistrar): SipRequest => {
    const last = requests.at(-1)
    if (last === undefined) throw new Error('no request came')
    return last
  }

  it('is made at the start, for the user and realm of the carrier, by way of its gateway', async () => {
    const node = await started()
    const request = lastOf(registrar)
    expect([request.method, request.uri]).toEqual(['REGISTER', 'sip:carrier.example'])
    expect(headerOf(request, 'to')).toBe('<sip:me@carrier.example>')
    expect(headerOf(request, 'from')).toMatch(/^<sip:me@carrier\.example>;tag=/)
    expect(headerOf(request, 'contact')).toBe('<sip:me@192.0.2.1:5060>;expires=3600')
    expect(node.registerStatus('c')).toMatchObject({ status: 'ok', reason: '200 OK', expires: 3600, cseq: 1 })
    expect(rows.statuses).toEqual(['ok: 200 OK'])
    expect(node.registeredOver('c')).toBe(`gateway ${first}`)
  })

  it('says who calls and where it is reached as the carrier wants it', async () => {
    test.trunks = [trunkOf({ fromUser: 'sales', fromDomain: 'acme.example', hasPublicContact: true })]
    await started()
    const request = lastOf(registrar)
    expect(headerOf(request, 'from')).toMatch(/^<sip:sales@acme\.example>;tag=/)
    expect(headerOf(request, 'to')).toBe('<sip:me@carrier.example>')
    expect(headerOf(request, 'contact')).toBe('<sip:me@203.0.113.9:5060>;expires=3600')
  })

  it('meets a challenge, and is refreshed before it expires under the same Call-ID', async () => {
    registrar.answers = (request) =>
      headerOf(request, 'authorization') === undefined
        ? { status: 401, lines: ['WWW-Authenticate: Digest realm="carrier.example", nonce="n"'] }
        : granted(100)(request)
    await started()
    await stage.pass(48_000)
    expect(registrar.requests).toHaveLength(2)
    await stage.pass(3_000)
    expect(said(registrar.requests, 'cseq')).toEqual(['1 REGISTER', '2 REGISTER', '3 REGISTER', '4 REGISTER'])
    expect(new Set(said(registrar.requests, 'call-id')).size).toBe(1)
  })

  it('asks for as long as a 423 says', async () => {
    registrar.answers = (request) =>
      headerOf(request, 'expires') === '3600'
        ? { status: 423, lines: ['Min-Expires: 7200'] }
        : granted()(request)
    const node = await started()
    expect(said(registrar.requests, 'expires')).toEqual(['3600', '7200'])
    expect(node.registerStatus('c')).toMatchObject({ status: 'ok', expires: 7200 })
  })

  it('follows a redirect', async () => {
    registrar.answers = () => ({ status: 302, lines: [`Contact: <sip:${second}>`] })
    const node = await started()
    expect(spare.requests).toHaveLength(1)
    expect(node.registerStatus('c')).toMatchObject({ status: 'ok' })
  })

  it('that is refused is left alone for five minutes, then for ten; the alert says so once', async () => {
    registrar.answers = () => ({ status: 403 })
    const node = await started()
    await stage.pass(290_000)
    expect(registrar.requests).toHaveLength(1)
    await stage.pass(20_000)
    expect(registrar.requests).toHaveLength(2)
    await stage.pass(580_000)
    expect(registrar.requests).toHaveLength(2)
    expect(node.registerStatus('c')).toMatchObject({
      status: 'fail',
      reason: '403 Refused from 192.0.2.10',
      expires: 0,
    })
    expect(alerts).toMatchObject([{ account_sid: 'a', alert_type: 'carrier-registration-failure' }])
  })

  it('with a wrong password says which fields are wrong, and comes back at once when they are changed', async () => {
    registrar.answers = () => ({
      status: 401,
      lines: ['WWW-Authenticate: Digest realm="carrier.example", nonce="n"'],
    })
    await started()
    expect(registrar.requests).toHaveLength(2)
    expect(rows.statuses.at(-1)).toContain('register_username or register_password is wrong')
    registrar.answers = granted()
    await change([trunkOf({ password: 'right' })])
    expect(rows.statuses.at(-1)).toBe('ok: 200 OK')
  })

  it('goes to the next gateway when the first is silent, and stays there', async () => {
    test.trunks = [trunkOf({}, [first, second])]
    registrar.answers = () => undefined
    const node = await started()
    // By now the transaction with the first registrar is over too.
    await stage.pass(40_000)
    expect(node.registeredOver('c')).toBe(`gateway ${second}`)
    registrar.requests.length = 0
    await stage.pass(1_800_000)
    expect(spare.requests.length).toBe(2)
    expect(registrar.requests).toHaveLength(0)
  })

  it('with both registrars down is tried again with growing pauses, and an alert says when it works again', async () => {
    test.trunks = [trunkOf({}, [first, second])]
    registrar.answers = () => ({ status: 503 })
    spare.answers = () => undefined
    const node = await started()
    await stage.pass(9_000)
    expect(node.registerStatus('c')).toMatchObject({ status: 'fail', reason: 'no response from 192.0.2.11' })
    await stage.pass(30_000)
    expect(registrar.requests).toHaveLength(2)
    await stage.pass(50_000)
    expect(registrar.requests).toHaveLength(2)
    registrar.answers = granted()
    await stage.pass(30_000)
    expect(node.registerStatus('c')).toMatchObject({ status: 'ok' })
    expect(alerts.map(({ alert_type }) => alert_type)).toEqual([
      'carrier-registration-failure',
      'carrier-registration-restored',
    ])
  })

  it('waits as long as Retry-After says', async () => {
    registrar.answers = () => ({ status: 503, lines: ['Retry-After: 100'] })
    await started()
    await stage.pass(95_000)
    expect(registrar.requests).toHaveLength(1)
    await stage.pass(10_000)
    expect(registrar.requests).toHaveLength(2)
  })

  it('moves with the name of the registrar', async () => {
    names.set('gw.carrier.example', [first])
    test.trunks = [trunkOf({}, ['gw.carrier.example'])]
    const node = await started()
    expect(node.registrarsAt(first)).toEqual(['c'])
    names.set('gw.carrier.example', [second])
    await stage.pass(1_801_000)
    expect(spare.requests).toHaveLength(1)
    expect(node.registrarsAt(first)).toEqual([])
    expect(node.registrarsAt(second)).toEqual(['c'])
  })

  it('gives the source addresses and the route of calls, until it is over', async () => {
    names.set('carrier.example', ['192.0.2.20', first])
    registrar.answers = granted(60, ['Service-Route: <sip:edge.carrier.example;lr>'])
    const node = await started()
    expect(node.registrarsAt('192.0.2.20')).toEqual(['c'])
    expect(node.routesOf('c')).toEqual(['<sip:edge.carrier.example;lr>'])
    registrar.answers = () => undefined
    await stage.pass(70_000)
    expect(node.registrarsAt('192.0.2.20')).toEqual([])
    expect(node.routesOf('c')).toEqual([])
  })

  it('gives no source addresses if calls are identified by configured gateways', async () => {
    test.trunks = [trunkOf({ learnsAddresses: false })]
    const node = await started()
    expect(node.registerStatus('c')).toMatchObject({ status: 'ok' })
    expect(node.registrarsAt(first)).toEqual([])
  })

  it('is taken back when the carrier is switched off, and made under the new name when it is renamed', async () => {
    await started()
    await change([trunkOf({ username: 'you' })])
    expect(registrar.requests.map((one) => [headerOf(one, 'to'), headerOf(one, 'expires')])).toEqual([
      ['<sip:me@carrier.example>', '3600'],
      ['<sip:me@carrier.example>', '0'],
      ['<sip:you@carrier.example>', '3600'],
    ])
    await change([])
    expect(headerOf(lastOf(registrar), 'contact')).toBe('<sip:you@192.0.2.1:5060>;expires=0')
    await stage.pass(3_700_000)
    expect(registrar.requests).toHaveLength(4)
    expect(rows.holders.size).toBe(0)
    expect(rows.statuses.at(-1)).toBe('none')
  })

  it('is made as soon as the carrier has a gateway, however long its realm takes to be looked up', async () => {
    test.trunks = [trunkOf({ realm: 'slow.example' }, [])]
    const node = await started()
    expect(node.registerStatus('c')).toBeUndefined()
    await change([trunkOf({ realm: 'slow.example' })])
    expect(node.registerStatus('c')).toMatchObject({ status: 'ok' })
  })

  it('is kept over a restart: what was learnt counts at once, the Call-ID stays, CSeq rises', async () => {
    const before = nodeOf()
    await before.start()
    await stage.pass(1_000)
    const after = nodeOf()
    await after.start()
    expect(after.registrarsAt(first)).toEqual(['c'])
    await stage.pass(1_000)
    expect(new Set(said(registrar.requests, 'call-id')).size).toBe(1)
    expect(said(registrar.requests, 'cseq')).toEqual(['1 REGISTER', '2 REGISTER'])
  })

  it('is one node alone, until that one stops: it takes back its own, and the next node registers', async () => {
    const one = await started('n1')
    const other = await started('n2')
    expect(registrar.requests).toHaveLength(1)
    expect(other.registrarsAt(first)).toEqual(['c'])
    const stopped = one.stop()
    await stage.pass(1_000)
    await stopped
    expect(headerOf(lastOf(registrar), 'expires')).toBe('0')
    await stage.pass(6_000)
    expect(headerOf(lastOf(registrar), 'expires')).toBe('3600')
    expect(other.registerStatus('c')).toMatchObject({ status: 'ok' })
  })

  it('counts its CSeq on from a removal that gets no response', async () => {
    names.set('late.example', [first])
    test.trunks = [trunkOf({}, ['late.example'])]
    const one = await started('n1')
    await started('n2')
    registrar.answers = () => undefined
    const stopped = one.stop()
    await stage.pass(2_500)
    await stopped
    registrar.answers = granted()
    await stage.pass(6_000)
    const removal = registrar.requests.find((request) => headerOf(request, 'expires') === '0')
    expect(headerOf(lastOf(registrar), 'expires')).toBe('3600')
    expect(headerOf(lastOf(registrar), 'call-id')).toBe(headerOf(removal!, 'call-id'))
    expect(cseqOf(lastOf(registrar)).sequence).toBeGreaterThan(cseqOf(removal!).sequence)
  })

  it.each([
    ['the registrar is silent', first],
    ['the look-up of its name does not end', 'slow.example'],
  ])('stops within two seconds where %s', async (_, host) => {
    names.set('slow.example', [first])
    test.trunks = [trunkOf({}, [host])]
    const node = await started()
    expect(node.registerStatus('c')).toMatchObject({ status: 'ok' })
    registrar.answers = () => undefined
    names.delete('slow.example')
    let isStopped = false
    void node.stop().then(() => (isStopped = true))
    await stage.pass(2_500)
    expect(isStopped).toBe(true)
  })
})
