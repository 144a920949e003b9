import { isIP } from 'node:net'
import { describe, expect, it } from 'vitest'
import { createFakeClock } from '../lib/fake-clock.ts'
import { findLocalAddress } from './local-address.ts'

const clock = createFakeClock()

describe('findLocalAddress', () => {
  it('is the public address whatever is bound', async () => {
    const local = await findLocalAddress({ bind: '0.0.0.0', publicAddress: '203.0.113.5', clock })
    expect([local.general, local.towards('127.0.0.1')]).toEqual(['203.0.113.5', '203.0.113.5'])
  })

  it('is the bound address without one', async () => {
    const local = await findLocalAddress({ bind: '127.0.0.2', publicAddress: undefined, clock })
    expect([local.general, local.towards('192.0.2.9')]).toEqual(['127.0.0.2', '127.0.0.2'])
  })

  it('is an address in the network of the peer when every one is bound', async () => {
    const local = await findLocalAddress({ bind: '0.0.0.0', publicAddress: undefined, clock })
    expect(local.towards('127.0.0.1')).toBe('127.0.0.1')
    expect(isIP(local.general)).toBe(4)
    expect(local.towards('192.0.2.9')).toBe(local.general)
    clock.advance(20_000)
    expect(local.towards('127.0.0.1')).toBe('127.0.0.1')
  })
})
