import { describe, expect, it } from 'vitest'
import type { CarrierFacts } from '../ports.ts'
import { carrierOf } from '../../../test/support/scripted-engine/carriers.ts'
import { GatewayIndex } from './gateway-index.ts'

type Entry = readonly [carrier: CarrierFacts, ipv4: string, netmask: number]

function indexOf(...entries: readonly Entry[]): GatewayIndex {
  const index = new GatewayIndex()
  for (const [carrier, ipv4, netmask] of entries) index.add(carrier, { ipv4, netmask })
  return index
}

const found = (index: GatewayIndex, address: string): string[] =>
  index.at(address).map(({ carrier, netmask }) => `${carrier.voip_carrier_sid}/${netmask}`)

const own = carrierOf('own')
const other = carrierOf('other')
const shared = carrierOf('shared', { account_sid: null })

describe('the carriers at an address', () => {
  const index = indexOf(
    [shared, '192.0.2.10', 32],
    [own, '192.0.2.10', 32],
    [own, '192.0.2.10', 32],
    [other, '192.0.2.77', 24],
    [own, '192.0.2.0', 24],
    [other, '192.0.0.0', 16],
    [shared, '198.51.100.128', 25],
    [other, '255.255.255.255', 32],
    [other, '0.0.0.0', 32],
  )

  it.each([
    ['192.0.2.10', ['own/32', 'shared/32', 'other/24']],
    ['192.0.2.11', ['other/24', 'own/24']],
    ['192.0.3.1', ['other/16']],
    ['192.1.2.10', []],
    ['198.51.100.127', []],
    ['198.51.100.128', ['shared/25']],
    ['255.255.255.255', ['other/32']],
    ['0.0.0.0', ['other/32']],
    ['::ffff:192.0.3.1', ['other/16']],
    ['::ffff:c000:301', ['other/16']],
    ['::1', []],
    ['2001:db8::1', []],
    ['nowhere', []],
    ['', []],
  ])('%s: %j', (address, expected) => {
    expect(found(index, address)).toEqual(expected)
  })

  it.each(Array.from({ length: 32 }, (_, at) => at + 1))('are distinguished by %i bits', (netmask) => {
    const one = indexOf([own, '170.170.170.170', netmask])
    const bits = 0xaa_aa_aa_aa
    const flipped = (bit: number): string => {
      const value = Number(BigInt(bits) ^ (1n << BigInt(31 - bit)))
      return [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join('.')
    }
    for (let bit = 0; bit < 32; bit++)
      expect(found(one, flipped(bit)), `bit ${bit}`).toEqual(bit < netmask ? [] : [`own/${netmask}`])
  })

  it('are none where there are no gateways, or none with an address', () => {
    expect(found(indexOf(), '192.0.2.10')).toEqual([])
    expect(found(indexOf([own, 'sip.example.com', 32]), '192.0.2.10')).toEqual([])
  })
})
