import { describe, expect, it } from 'vitest'
import { udpAt } from '../../test/support/scripted-engine/scripted-sip.ts'
import type { Binding, Remote } from '../sip/sip.ts'
import { apartFromPhones, reachableFor } from './reachable-places.ts'

type Services = Parameters<typeof reachableFor>[2]

const account = { sip_realm: 'a.example' }
const phones = new Map<string, Pick<Binding, 'aor'>[]>([
  ['192.0.2.40', [{ aor: 'eve@other.example' }]],
  ['192.0.2.41', [{ aor: 'alice@a.example' }]],
  ['192.0.2.42', [{ aor: 'eve@other.example' }, { aor: 'alice@a.example' }]],
])
const services = {
  isAllowedAddress: (address: string) => address.startsWith('192.0.2.'),
  isAllowedHop: (address: string) => address.startsWith('192.0.2.') || address === '10.0.0.1',
  isSipProxy: (address: string) => address === '10.0.0.1' || address === '192.0.2.250',
  sip: () => ({
    bindings: {
      reachedAt: ({ address, port }: Remote) => (port === 5060 ? (phones.get(address) ?? []) : []),
    },
  }),
} as unknown as Services

const places = ['192.0.2.30', '192.0.2.250', '10.0.0.1', '10.0.0.9'].map((address) => udpAt(address))
const addressesOf = (found: readonly Remote[]): string[] => found.map(({ address }) => address)

describe('what a far end says leads a call', () => {
  it.each([
    ['from a public address', '192.0.2.9'],
    ['that was never heard', undefined],
  ])('%s to public addresses, and to no proxy of the operator', (_what, peer) => {
    const mayReach = reachableFor(peer, account, services)
    expect(addressesOf(places.filter(mayReach))).toEqual(['192.0.2.30'])
  })

  it('from a private address there as well, and to no other private one', () => {
    const mayReach = reachableFor('10.0.0.9', account, services)
    expect(addressesOf(places.filter(mayReach))).toEqual(['192.0.2.30', '10.0.0.9'])
  })

  it('through a proxy of the operator to the proxies too', () => {
    const mayReach = reachableFor('10.0.0.1', account, services)
    expect(addressesOf(places.filter(mayReach))).toEqual(['192.0.2.30', '192.0.2.250', '10.0.0.1'])
  })

  it.each([
    ['another account has registered', '192.0.2.40', false],
    ['its own account has registered', '192.0.2.41', true],
    ['its own account and another one have registered', '192.0.2.42', true],
  ])('to a phone that %s: %s, %s', (_whose, address, isReached) => {
    const rules = [address, '192.0.2.9', undefined].map((peer) => reachableFor(peer, account, services))
    for (const mayReach of [...rules, apartFromPhones(account, services)])
      expect(mayReach(udpAt(address))).toBe(isReached)
    expect(rules.map((mayReach) => mayReach(udpAt(address, 40_000)))).toEqual([true, true, true])
  })
})
