// The packets that are sent to an address that only an SDP has named, in virtual time.
import { describe, expect, it } from 'vitest'
import { bridge, sine, VirtualLegs } from '../../test/support/virtual-legs.ts'
import type { VirtualPhone } from '../../test/support/virtual-legs.ts'

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

it('an address that has proven itself in signalling gets everything, though it never sends', () => {
  const legs = new VirtualLegs()
  const phone = legs.leg('listener', { agreement: { remoteRtcp: reportsAt, mayReceive: false } })
  legs.run(60_000)
  expect(phone.heard).toHaveLength(3000)
  expect(phone.reports).toBeGreaterThan(0)
})
