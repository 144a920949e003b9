import { beforeEach, describe, expect, it } from 'vitest'
import { attachRegistrar, granted, type ScriptedRegistrar } from '../../test/support/scripted-registrar.ts'
import { openStage, type Stage } from '../../test/support/sip-stage.ts'
import { AppError } from '../lib/errors.ts'
import { silentLogger } from '../lib/log.ts'
import { headerOf } from '../sip/message/message.ts'
import { GatewayWatch } from './gateway-watch.ts'
import type { Trunk, TrunkGateway } from './trunks.ts'

const address = '192.0.2.10'
const gateway: TrunkGateway = {
  sip_gateway_sid: 'g',
  host: address,
  port: 5060,
  protocol: 'udp',
  use_sips_scheme: false,
  isWatched: true,
}
const trunkOf = (more: Partial<TrunkGateway> = {}): Trunk => ({
  voip_carrier_sid: 'c',
  name: 'Acme',
  owner: { account_sid: 'a' },
  login: undefined,
  gateways: [{ ...gateway, ...more }],
})

describe('the watch over gateways', () => {
  let stage: Stage
  let carrier: ScriptedRegistrar
  let watch: GatewayWatch
  let turns: string[]

  beforeEach(async () => {
    stage = await openStage()
    carrier = attachRegistrar(stage.network, address)
    turns = []
    watch = new GatewayWatch({
      sip: stage.agent,
      clock: stage.clock,
      random: () => 0.5,
      log: silentLogger,
      turned: (_trunk, _gateway, { reason }) => void turns.push(reason),
    })
  })

  it('sends OPTIONS about once a minute, to those that want it', async () => {
    watch.follow([
      trunkOf(),
      { ...trunkOf({ sip_gateway_sid: 'h', isWatched: false }), voip_carrier_sid: 'd' },
    ])
    await stage.pass(3_000)
    expect(carrier.requests).toHaveLength(1)
    expect(carrier.requests[0]).toMatchObject({ method: 'OPTIONS', uri: `sip:${address};transport=udp` })
    expect(headerOf(carrier.requests[0]!, 'to')).toBe(`<sip:${address}>`)
    expect(watch.of('g')).toMatchObject({ condition: 'up', last: { status: 200, reason: '200 OK' } })
    expect(watch.of('h')).toBeUndefined()
    await stage.pass(190_000)
    expect(carrier.requests).toHaveLength(4)
    watch.follow([])
    await stage.pass(180_000)
    expect(carrier.requests).toHaveLength(4)
  })

  it('asks nothing once it has stopped, if the carriers are still being read then', async () => {
    watch.stop()
    watch.follow([trunkOf()])
    await stage.pass(10_000)
    expect(carrier.requests).toEqual([])
  })

  it('names us as Microsoft Teams knows us, and asks nothing where we could not prove that name', async () => {
    const fault = new AppError('teams_not_ready', 'the certificate does not name it')
    const demandName = (name: string): void => {
      if (name !== 'sbc.example.com') throw fault
    }
    watch = new GatewayWatch({
      sip: stage.agent,
      clock: stage.clock,
      random: () => 0.5,
      log: silentLogger,
      demandName,
      turned: (_trunk, _gateway, { reason }) => void turns.push(reason),
    })
    const port = 5061
    watch.follow([
      trunkOf({ port, ourName: 'sbc.example.com' }),
      trunkOf({ port, sip_gateway_sid: 'h', ourName: 'other.example.com' }),
    ])
    await stage.pass(90_000)
    const [asked] = carrier.requests
    expect(asked).toMatchObject({ method: 'OPTIONS', uri: `sip:${address}:5061;transport=udp` })
    expect(headerOf(asked!, 'from')).toMatch(/^<sip:sbc\.example\.com>;tag=/)
    expect(headerOf(asked!, 'contact')).toBe('<sip:sbc.example.com:5060>')
    expect(watch.isUp('g')).toBe(true)
    expect(watch.of('h')).toMatchObject({ condition: 'down' })
    expect(turns).toEqual([`${address}:5061 cannot be reached: the certificate does not name it`])
  })

  it('takes a gateway out after two misses, and back after two answers, and says so once each', async () => {
    watch.follow([trunkOf()])
    await stage.pass(3_000)
    carrier.answers = () => undefined
    await stage.pass(64_500)
    expect([watch.isUp('g'), turns]).toEqual([true, []])
    await stage.pass(12_000)
    expect([watch.isUp('g'), turns]).toEqual([false, [`no response from ${address}`]])
    await stage.pass(98_000)
    carrier.answers = granted()
    await stage.pass(30_000)
    expect(watch.isUp('g')).toBe(false)
    await stage.pass(10_000)
    expect([watch.isUp('g'), turns.slice(1)]).toEqual([true, ['200 OK']])
  })

  it('treats a flapping gateway as changed only when it stays so', async () => {
    watch.follow([trunkOf()])
    let count = 0
    carrier.answers = () => ({ status: ++count % 2 === 0 ? 503 : 200 })
    await stage.pass(600_000)
    expect([watch.isUp('g'), turns]).toEqual([true, []])
  })

  it('lets a gateway rest that a call found silent, and asks it at once', async () => {
    watch.follow([trunkOf()])
    await stage.pass(3_000)
    carrier.answers = () => undefined
    watch.noted('g', { kind: 'silent' })
    expect(watch.isUp('g')).toBe(false)
    await stage.pass(500)
    expect(carrier.requests).toHaveLength(2)
    carrier.answers = granted()
    await stage.pass(9_000)
    expect(watch.isUp('g')).toBe(true)
  })

  it('asks a gateway once at a time, however many calls find it silent: they are one miss', async () => {
    watch.follow([trunkOf()])
    await stage.pass(3_000)
    carrier.answers = () => undefined
    for (let call = 0; call < 5; call += 1) {
      watch.noted('g', { kind: 'silent' })
      await stage.pass(100)
    }
    expect(carrier.requests).toHaveLength(2)
    await stage.pass(4_000)
    expect([watch.of('g')?.condition, turns]).toEqual(['up', []])
    await stage.pass(10_000)
    expect([watch.of('g')?.condition, turns.length]).toEqual(['down', 1])
  })

  it('lets one rest that is not watched for half a minute, or as Retry-After says, five minutes at most', async () => {
    watch.noted('x', { kind: 'silent' })
    watch.noted('y', { kind: 'overloaded', retryAfterSeconds: 100 })
    watch.noted('z', { kind: 'overloaded', retryAfterSeconds: 100_000 })
    const up = () => ['x', 'y', 'z'].filter((sid) => watch.isUp(sid))
    expect(up()).toEqual([])
    await stage.pass(30_000)
    expect(up()).toEqual(['x'])
    await stage.pass(70_000)
    expect(up()).toEqual(['x', 'y'])
    await stage.pass(200_000)
    expect(up()).toEqual(['x', 'y', 'z'])
    watch.noted('x', { kind: 'overloaded', retryAfterSeconds: 60 })
    watch.noted('x', { kind: 'alive' })
    expect(watch.isUp('x')).toBe(true)
  })

  it('says why a gateway cannot be asked', async () => {
    const ping = await watch.ping({ ...gateway, host: 'gone.example' })
    expect(ping).toMatchObject({ isAnswered: false })
    expect(ping.reason).toMatch(/^gone\.example cannot be reached: /)
  })
})
