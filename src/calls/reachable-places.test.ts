import { describe, expect, it } from 'vitest'
import { reachableFor } from './reachable-places.ts'

const services = {
  isAllowedAddress: (address: string) => address.startsWith('192.0.2.'),
  isAllowedHop: (address: string) => address.startsWith('192.0.2.') || address === '10.0.0.1',
  isSipProxy: (address: string) => address === '10.0.0.1' || address === '192.0.2.250',
}

describe('what a far end says leads a call', () => {
  it.each([
    ['from a public address', '192.0.2.9'],
    ['that was never heard', undefined],
  ])('%s to public addresses, and to no proxy of the operator', (_what, peer) => {
    const mayReach = reachableFor(peer, services)
    const places = ['192.0.2.30', '192.0.2.250', '10.0.0.1', '10.0.0.9']
    expect(places.filter(mayReach)).toEqual(['192.0.2.30'])
  })

  it('through a proxy of the operator to the proxies too', () => {
    const mayReach = reachableFor('10.0.0.1', services)
    const places = ['192.0.2.30', '192.0.2.250', '10.0.0.1', '10.0.0.9']
    expect(places.filter(mayReach)).toEqual(['192.0.2.30', '192.0.2.250', '10.0.0.1'])
  })
})
