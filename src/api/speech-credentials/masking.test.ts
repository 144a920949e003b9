import { describe, expect, it } from 'vitest'
import { maskSecret, maskServiceKey } from './masking.ts'

describe('maskSecret', () => {
  it.each([
    ['a', 'X'],
    ['0123456789abcde', 'XXXXXXXXXXXXXXX'],
    ['0123456789abcdef', '0123XXXXXXXXXXXX'],
    ['0123456789abcdef01234567', '012345XXXXXXXXXXXXXXXXXX'],
  ])('%s -> %s', (secret, shown) => {
    expect(maskSecret(secret)).toBe(shown)
  })
})

describe('maskServiceKey', () => {
  it('shows all but what follows the header of the private key', () => {
    const key = {
      client_email: 'a@b',
      private_key: '-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----',
    }
    expect(JSON.parse(maskServiceKey(JSON.stringify(key)))).toEqual({
      client_email: 'a@b',
      private_key: '-----BEGIN PRIVATE KEY-----\nXXXXXXXX',
    })
  })

  it('shows nothing of a private key without a header', () => {
    expect(JSON.parse(maskServiceKey('{"private_key":"MIIE"}'))).toEqual({ private_key: 'XXXXXXXX' })
  })
})
