import { isIPv4, isIPv6 } from 'node:net'
import { networkInterfaces } from 'node:os'
import { describe, expect, it } from 'vitest'
import { createFakeClock } from '../../test/support/fake-clock.ts'
import { addressesForOthers, createLocalAddress } from './local-address.ts'

const clock = createFakeClock()
const localOf = (bind: string, publicAddress?: string) => createLocalAddress({ bind, publicAddress, clock })

describe('our address', () => {
  it('is the public one for peers of its IP version, whatever is bound', () => {
    const local = localOf('0.0.0.0', '203.0.113.5')
    expect([local.general, local.towards('127.0.0.1')]).toEqual(['203.0.113.5', '203.0.113.5'])
    expect(localOf('::', '203.0.113.5').towards('::1')).toBe('::1')
  })

  it('is the bound one without a public one', () => {
    const local = localOf('127.0.0.2')
    expect([local.general, local.towards('192.0.2.9')]).toEqual(['127.0.0.2', '127.0.0.2'])
  })

  it.each([
    ['0.0.0.0', '127.0.0.1', '127.0.0.1'],
    ['0.0.0.0', '127.0.0.77', '127.0.0.1'],
    ['::', '127.0.0.1', '127.0.0.1'],
    ['::', '::ffff:127.0.0.1', '127.0.0.1'],
    ['::', '::1', '::1'],
  ])('on %s is the one that the system sends from to %s', (bind, peer, expected) => {
    expect(localOf(bind).towards(peer)).toBe(expected)
  })

  it('is one of the bound IP version for a peer that is not known or cannot be reached', () => {
    const four = localOf('0.0.0.0')
    expect(isIPv4(four.general)).toBe(true)
    expect([four.towards('::1'), four.towards('phone.example')]).toEqual([four.general, four.general])
    expect(isIPv6(localOf('::').general)).toBe(true)
  })

  it('is read again after a while', () => {
    const local = localOf('0.0.0.0')
    expect(local.towards('127.0.0.1')).toBe('127.0.0.1')
    clock.advance(20_000)
    expect(local.towards('127.0.0.1')).toBe('127.0.0.1')
  })
})

describe('the IP versions that are served', () => {
  it.each([
    ['0.0.0.0', true, false],
    ['127.0.0.1', true, false],
    ['::1', false, true],
    ['::', true, true],
  ])('on %s: IPv4 %s, IPv6 %s', (bind, four, six) => {
    const local = localOf(bind)
    expect([local.serves('192.0.2.1'), local.serves('2001:db8::1')]).toEqual([four, six])
    expect(local.serves('phone.example')).toBe(false)
  })
})

describe('the addresses for other machines', () => {
  const of = (bind: string, publicAddress?: string) => addressesForOthers({ bind, publicAddress })

  it('are the public one, or the bound one, but never the loopback', () => {
    expect(of('0.0.0.0', '203.0.113.5')).toEqual(['203.0.113.5'])
    expect(of('192.0.2.7')).toEqual(['192.0.2.7'])
    expect([of('127.0.0.1'), of('127.0.0.2'), of('::1')]).toEqual([[], [], []])
    expect(of('0.0.0.0', '127.0.0.1')).toEqual([])
  })

  it('are those of all networks of this machine if every one is served', () => {
    const own = Object.values(networkInterfaces())
      .flatMap((list) => list ?? [])
      .filter(({ internal, address }) => !internal && !address.startsWith('fe80'))
      .map(({ address }) => address)
    expect(of('::').toSorted()).toEqual(own.toSorted())
    expect(of('0.0.0.0')).toEqual(own.filter((address) => isIPv4(address)))
  })
})
