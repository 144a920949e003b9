import { describe, expect, it } from 'vitest'
import { apiKeyPrefix, hashApiKey } from './api-key.ts'

describe('hashApiKey', () => {
  it('is the SHA-256 of the key in hex', () => {
    expect(hashApiKey('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
  })
})

describe('apiKeyPrefix', () => {
  it('shows six characters and no more', () => {
    expect(apiKeyPrefix('0123456789abcdef')).toBe('012345')
  })
})
