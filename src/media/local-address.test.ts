import { isIPv4, isIPv6 } from 'node:net'
import { describe, expect, it } from 'vitest'
import { findLocalAddress } from './local-address.ts'

describe('the published address', () => {
  it('is the configured one before all', async () => {
    const options = { bind: '0.0.0.0', publicAddress: '203.0.113.1', towards: '127.0.0.1' }
    expect(await findLocalAddress(options)).toBe('203.0.113.1')
  })

  it('is the bound one when that is an address', async () => {
    expect(await findLocalAddress({ bind: '127.0.0.1', publicAddress: undefined })).toBe('127.0.0.1')
  })

  it('faces the far end when every address is bound', async () => {
    const options = { bind: '0.0.0.0', publicAddress: undefined }
    expect(await findLocalAddress({ ...options, towards: '127.0.0.1' })).toBe('127.0.0.1')
  })

  it('is an address of the bound family when nothing is known of the far end', async () => {
    expect(isIPv4(await findLocalAddress({ bind: '0.0.0.0', publicAddress: undefined }))).toBe(true)
    expect(
      isIPv4(await findLocalAddress({ bind: '0.0.0.0', publicAddress: '', towards: 'phone.example' })),
    ).toBe(true)
    expect(isIPv6(await findLocalAddress({ bind: '::', publicAddress: undefined }))).toBe(true)
  })
})
