// The gateways of carriers, for calls and people: who is notified when one changes, and which questions are possible.
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
import { isSips, placeOf, uriOf } from './gateway-uri.ts'
import { toTrunkGateway } from './trunk-gateway.ts'
import type { Trunk } from './trunks.ts'

describe('a gateway that is watched', () => {
  let test: TrunkStage
  let gateway: ScriptedRegistrar
  const sid = `gateway ${first}`
  const watched: Trunk = {
    ...trunkOf(),
    login: undefined,
    gateways: [
      { ...gatewayAt(first), isWatched: true },
      { ...gatewayAt(second), isWatched: true },
    ],
  }

  beforeEach(async () => {
    test = await openTrunkStage()
    gateway = test.registrar
    test.trunks = [watched]
  })

  const passed = (seconds: number) => test.stage.pass(seconds * 1_000)
  const told = () => test.alerts.map(({ alert_type, message }) => `${alert_type}: ${message}`)

  it('raises an alert when it goes down and one when it is back, by the node that has the carrier', async () => {
    const one = await test.started('n1')
    const other = await test.started('n2')
    await passed(5)
    expect([one.watched(sid)?.condition, other.watched(sid)?.condition]).toEqual(['up', 'up'])
    gateway.answers = () => undefined
    await passed(75)
    expect([one.isUp(sid), other.isUp(sid), one.isUp(`gateway ${second}`)]).toEqual([false, false, true])
    expect(told()).toEqual([
      `gateway-down: gateway ${first} of carrier Acme does not answer OPTIONS: no response from ${first}`,
    ])
    expect(test.alerts[0]).toMatchObject({
      account_sid: 'a',
      detail: expect.stringContaining('other gateways'),
    })
    gateway.answers = granted()
    await passed(45)
    expect([one.isUp(sid), other.isUp(sid)]).toEqual([true, true])
    expect(told().slice(1)).toEqual([`gateway-up: gateway ${first} of carrier Acme answers again`])
  })

  it('that cannot serve is as bad as a silent one, and one of the platform itself has no one to tell', async () => {
    test.trunks = [{ ...watched, owner: undefined }]
    gateway.answers = () => ({ status: 503 })
    const node = await test.started()
    await passed(15)
    expect(node.watched(sid)).toMatchObject({
      condition: 'down',
      last: { reason: '503 Refused', status: 503 },
    })
    expect(test.alerts).toEqual([])
  })

  it('is unknown again once it is another one, and no more once it is not wanted', async () => {
    gateway.answers = () => undefined
    const node = await test.started()
    await passed(20)
    expect(node.watched(sid)?.condition).toBe('down')
    await test.change([{ ...watched, name: 'Acme Ltd' }])
    expect(node.watched(sid)?.condition).toBe('down')
    await test.change([{ ...watched, gateways: [{ ...gatewayAt(first), port: 5070, isWatched: true }] }])
    expect(node.watched(sid)?.condition).toBe('unknown')
    await test.change([{ ...watched, gateways: [gatewayAt(first)] }])
    expect(node.watched(sid)).toBeUndefined()
    expect(node.isUp(sid)).toBe(true)
  })

  it('is not asked any more by a node that has stopped', async () => {
    const node = await test.started()
    await passed(5)
    const before = gateway.requests.length
    await node.stop()
    await node.stop()
    await passed(120)
    expect(gateway.requests).toHaveLength(before)
    expect(test.rows.holders.size).toBe(0)
  })

  it('is found silent by a call, and rests although it is not watched', async () => {
    test.trunks = []
    const node = await test.started()
    node.noted(sid, { kind: 'silent' })
    expect(node.isUp(sid)).toBe(false)
    await passed(31)
    expect(node.isUp(sid)).toBe(true)
  })

  it('is asked with sips: where it wants that, whether it is watched or not', async () => {
    const node = await test.started()
    const secure = { ...gatewayAt(second), protocol: 'tls', use_sips_scheme: true } as const
    const pinged = node.ping(secure)
    await passed(1)
    expect(await pinged).toMatchObject({ isAnswered: true, reason: '200 OK', status: 200 })
    const request = test.spare.requests.at(-1)!
    expect([request.uri, headerOf(request, 'to')]).toEqual([`sips:${second}`, `<sips:${second}>`])
    expect(headerOf(request, 'from')).toMatch(/^<sips:192\.0\.2\.1>/)
  })

  it('may be tested six times at once, and again after ten minutes', async () => {
    const node = await test.started()
    const waits = Array.from({ length: 8 }, () => node.takeTest('c'))
    expect(waits.map((wait) => wait > 0)).toEqual([...Array<boolean>(6).fill(false), true, true])
    expect(node.takeTest('d')).toBe(0)
    await passed(600)
    expect(node.takeTest('c')).toBe(0)
  })
})

describe('the way to a gateway', () => {
  const row = { sip_gateway_sid: 'g', ipv4: 'gw.example', use_sips_scheme: 0, send_options_ping: 1 }

  it.each([
    ['udp', 5060, 0, 'gw.example', 'sip:gw.example;transport=udp'],
    ['udp', null, 0, 'gw.example', 'sip:gw.example;transport=udp'],
    ['tcp', 5070, 1, 'gw.example:5070', 'sip:gw.example:5070;transport=tcp'],
    ['tls', 5061, 0, 'gw.example', 'sip:gw.example;transport=tls'],
    ['tls', 5060, 1, 'gw.example:5060', 'sips:gw.example:5060'],
  ])('over %s at port %s, sips %i, is %s', (protocol, port, use_sips_scheme, place, uri) => {
    const gateway = toTrunkGateway({ ...row, protocol, port, use_sips_scheme })!
    expect([placeOf(gateway), uriOf(gateway)]).toEqual([place, uri])
    expect(isSips(gateway)).toBe(uri.startsWith('sips:'))
    expect(gateway.isWatched).toBe(true)
  })

  it('is none over a transport that is not served', () => {
    expect(toTrunkGateway({ ...row, protocol: 'sctp', port: null })).toBeUndefined()
  })
})
