import { describe, expect, it } from 'vitest'
import { createFakeClock, type FakeClock } from '../../../test/support/fake-clock.ts'
import type { Remote } from './transports.ts'
import { createSources, type Sources } from './sources.ts'

const at = (address: string, port = 5060): Remote => ({ transport: 'udp', address, port })

/** Returns how many of `perSecond` messages a second are admitted in `seconds`. */
function send(
  sources: Sources,
  { clock, perSecond, seconds = 1 }: { clock: FakeClock; perSecond: number; seconds?: number },
  from: (count: number) => Remote,
): number {
  let admitted = 0
  for (let count = 0; count < perSecond * seconds; count += 1) {
    if (sources.admits(from(count))) admitted += 1
    clock.advance(1_000 / perSecond)
  }
  return admitted
}

describe('the budget of a source', () => {
  it('is 200 messages and 20 a second for a stranger, whatever port it uses', () => {
    const clock = createFakeClock()
    const sources = createSources({ clock })
    const scanner = (count: number): Remote => at('203.0.113.1', 1_024 + count)
    expect(send(sources, { clock, perSecond: 4_000 }, scanner)).toBe(219)
    expect(send(sources, { clock, perSecond: 4_000, seconds: 10 }, scanner)).toBe(200)
    expect(sources.admits(at('203.0.113.2'))).toBe(true)
  })

  it('is one for a /64 of IPv6', () => {
    const clock = createFakeClock()
    const sources = createSources({ clock })
    const scanner = (count: number): Remote => at(`2001:db8::${count.toString(16)}`)
    expect(send(sources, { clock, perSecond: 4_000 }, scanner)).toBe(219)
    expect(sources.admits(at('2001:db8:0:1::1'))).toBe(true)
  })

  it('of all strangers is 500 a second, and touches no source that has proved itself and no gateway', () => {
    const clock = createFakeClock()
    const sources = createSources({ clock, isBound: ({ address }) => address === '198.51.100.1' })
    sources.prove(at('192.0.2.1'))
    const forged = (count: number): Remote =>
      at(`10.${(count >> 16) & 255}.${(count >> 8) & 255}.${count & 255}`)
    send(sources, { clock, perSecond: 4_000, seconds: 2 }, forged)
    expect(send(sources, { clock, perSecond: 4_000, seconds: 2 }, (count) => forged(count + 8_000))).toBe(
      1_000,
    )
    for (const peer of [at('192.0.2.1'), at('198.51.100.1')]) {
      expect(sources.isProven(peer)).toBe(true)
      expect(send(sources, { clock, perSecond: 1_000 }, () => peer)).toBe(1_000)
    }
  })

  it('of a source that has proved itself ends as well', () => {
    const clock = createFakeClock()
    const sources = createSources({ clock })
    sources.prove(at('192.0.2.1'))
    const admitted = send(sources, { clock, perSecond: 50_000 }, () => at('192.0.2.1'))
    expect(admitted).toBeGreaterThan(10_000)
    expect(admitted).toBeLessThan(13_000)
  })

  it('of a gateway is that of many calls', () => {
    const clock = createFakeClock()
    const sources = createSources({
      clock,
      gatewayOwners: (address) => (address === '192.0.2.9' ? [] : undefined),
    })
    const admitted = send(sources, { clock, perSecond: 50_000 }, () => at('192.0.2.9'))
    expect(admitted).toBeGreaterThan(20_000)
    expect(admitted).toBeLessThan(26_000)
  })

  it('of all gateways of an owner is that of one, also where others have entered their addresses', () => {
    const clock = createFakeClock()
    const gatewayOwners = (address: string): readonly string[] =>
      ({ '192.0.2.1': ['other'], '192.0.2.2': ['other', 'owner'] })[address] ?? ['owner']
    const sources = createSources({ clock, gatewayOwners })
    const admitted = send(sources, { clock, perSecond: 50_000 }, (count) => at(`198.51.100.${count % 250}`))
    expect(admitted).toBeGreaterThan(20_000)
    expect(admitted).toBeLessThan(26_000)
    for (const address of ['192.0.2.1', '192.0.2.2'])
      expect(send(sources, { clock, perSecond: 1_000, seconds: 0.1 }, () => at(address))).toBe(100)
  })

  it('is that of a stranger again when nothing was proved for more than a day', () => {
    const clock = createFakeClock()
    const sources = createSources({ clock })
    sources.prove(at('192.0.2.1'))
    clock.advance(24 * 3_600_000)
    expect(sources.isProven(at('192.0.2.1', 1_024))).toBe(true)
    clock.advance(3_600_000)
    expect(sources.isProven(at('192.0.2.1'))).toBe(false)
  })
})

describe('a caller that is held back', () => {
  const to = (host: string) => Buffer.from(`INVITE sip:bob@${host} SIP/2.0\r\n`)
  const slow = { owner: 'owner', perSecond: 10 }

  /** Returns how many of 200 messages in a second are admitted. */
  function readOf(sources: Sources, clock: FakeClock, raw: Uint8Array, from: Remote): number {
    return send(
      { ...sources, admits: (remote) => sources.admits(remote, raw) },
      { clock, perSecond: 200 },
      () => from,
    )
  }

  it('has INVITEs to the same host read at its rate for a second, and all other messages at once', () => {
    const clock = createFakeClock()
    const sources = createSources({ clock })
    const phone = at('192.0.2.1')
    sources.prove(phone)
    sources.slow(phone, to('one.example'), slow)
    for (const raw of [to('other.example'), Buffer.from('BYE sip:one.example SIP/2.0\r\n')])
      expect(readOf(sources, clock, raw, phone)).toBe(200)
    sources.slow(phone, to('one.example'), slow)
    const disguised = Buffer.concat([Buffer.from('\r\n'), to('ONE.example;x')])
    expect(readOf(sources, clock, disguised, { ...phone, port: 9 })).toBeLessThan(21)
    expect(readOf(sources, clock, to('one.example'), phone)).toBe(200)
    sources.prove(at('192.0.2.2'))
    sources.slow(phone, to('one.example'), slow)
    expect(readOf(sources, clock, to('one.example'), at('192.0.2.2'))).toBe(200)
  })

  it('is the account with all its gateways, but no carrier that others have too and no proxy of the operator', () => {
    const clock = createFakeClock()
    const gatewayOwners = (address: string): readonly string[] =>
      address === '192.0.2.9' ? ['owner', 'other'] : ['owner']
    const sources = createSources({ clock, gatewayOwners, isProxy: (address) => address === '192.0.2.8' })
    sources.slow(at('192.0.2.1'), to('192.0.2.100'), slow)
    expect(readOf(sources, clock, to('192.0.2.100'), at('192.0.2.2'))).toBeLessThan(21)
    for (const address of ['192.0.2.9', '192.0.2.8']) {
      sources.slow(at(address), to('192.0.2.100'), slow)
      expect(readOf(sources, clock, to('192.0.2.100'), at(address))).toBe(200)
    }
    sources.slow(at('192.0.2.1'), to('192.0.2.100'), { ...slow, owner: 'called' })
    expect(readOf(sources, clock, to('192.0.2.100'), at('192.0.2.1'))).toBe(200)
  })
})
