// The packets that are sent to an address that only an SDP has named, in virtual time.
import { describe, expect, it } from 'vitest'
import { createFakeClock } from '../../test/support/fake-clock.ts'
import { UnheardAddresses } from './rtp/unheard-addresses.ts'
import { bridge, sine, VirtualLegs, type VirtualPhone } from '../../test/support/virtual-legs.ts'

const reportsAt = { address: '192.0.2.1', port: 5005 }

function unheard(): { readonly legs: VirtualLegs; readonly phone: VirtualPhone } {
  const legs = new VirtualLegs()
  const mustBeHeardAt = ['192.0.2.1', '198.51.100.9']
  return {
    legs,
    phone: legs.leg('phone', { agreement: { mustBeHeardAt, remoteRtcp: reportsAt, peer: undefined } }),
  }
}

describe('an address that nothing has come from', () => {
  it('gets a second of packets, then one a second, and no report', () => {
    const { legs, phone } = unheard()
    legs.run(1000)
    expect(phone.heard).toHaveLength(50)
    legs.run(60_000)
    expect(phone.heard.length).toBeGreaterThanOrEqual(105)
    expect(phone.heard.length).toBeLessThanOrEqual(111)
    expect(phone.reports).toBe(0)
  })

  it('gets all of them from the first packet that comes from there on', () => {
    const { legs, phone } = unheard()
    legs.run(10_000)
    const before = phone.heard.length
    phone.send({})
    legs.run(1000)
    expect(phone.heard.length - before).toBe(50)
    legs.run(10_000)
    expect(phone.reports).toBeGreaterThan(0)
  })

  it('gets no more if the packets of another call are passed on to it', () => {
    const { legs, phone } = unheard()
    const other = legs.leg('other')
    bridge(phone, other)
    other.speak({ sound: sine(440) })
    legs.run(11_000)
    expect(phone.heard.length).toBeLessThanOrEqual(62)
  })

  it('is not named again and again for a second each: offers share five seconds', () => {
    const { legs, phone } = unheard()
    for (let count = 0; count < 100; count += 1) {
      const remote = { address: count % 2 === 0 ? '198.51.100.9' : '192.0.2.1', port: 6000 + count }
      phone.agree({ remote })
      legs.run(1000)
    }
    expect(phone.heard.length).toBeLessThanOrEqual(250 + 101)
  })

  it('gets no report that a=rtcp leads there, although the phone itself is heard elsewhere', () => {
    const { legs, phone } = unheard()
    phone.agree({ mustBeHeardAt: ['198.51.100.9'], remoteRtcp: { address: '198.51.100.9', port: 53 } })
    phone.speak({ sound: sine(440) })
    legs.run(30_000)
    expect(phone.heard.length).toBeGreaterThan(1400)
    expect(phone.reports).toBe(0)
  })
})

describe('an address that one call after another names', () => {
  const silent = '203.0.113.9'

  function callers() {
    const clock = createFakeClock()
    const unheard = new UnheardAddresses(clock)
    /** Begins a call whose SDP names the address, and returns the packets that it sends there in its first second. */
    const call = (): number => {
      const legs = new VirtualLegs()
      const agreement = { mustBeHeardAt: [silent], remote: { address: silent, port: 4000 }, peer: undefined }
      const phone = legs.leg('phone', { agreement: { ...agreement, isThin: !unheard.take(silent) } })
      legs.run(1000)
      return phone.heard.length
    }
    return { clock, unheard, call }
  }

  it('gets ten seconds of packets a minute from all of them together, and a packet a second after that', () => {
    const { clock, call } = callers()
    const sent = Array.from({ length: 200 }, () => call())
    expect(sent.slice(0, 10)).toEqual(Array.from({ length: 10 }, () => 50))
    expect(new Set(sent.slice(10))).toEqual(new Set([1]))
    clock.advance(60_000)
    expect(call()).toBe(50)
  })

  it('is not counted any more once a packet has come from there', () => {
    const { unheard, call } = callers()
    for (let count = 0; count < 20; count += 1) call()
    unheard.heard(silent)
    expect(call()).toBe(50)
  })

  it('is remembered among at most 10,000', () => {
    const { unheard } = callers()
    for (let count = 0; count < 10; count += 1) unheard.take(silent)
    expect(unheard.take(silent)).toBe(false)
    for (let count = 0; count < 9999; count += 1) unheard.take(`2001:db8::${count.toString(16)}`)
    expect(unheard.take(silent)).toBe(false)
    unheard.take('2001:db8:1::')
    expect(unheard.take(silent)).toBe(true)
  })
})

it('an address that has proven itself in signalling gets everything, though it never sends', () => {
  const legs = new VirtualLegs()
  const phone = legs.leg('listener', { agreement: { remoteRtcp: reportsAt, mayReceive: false } })
  legs.run(60_000)
  expect(phone.heard).toHaveLength(3000)
  expect(phone.reports).toBeGreaterThan(0)
})
