import { describe, expect, it } from 'vitest'
import { apiKeyColumns, hashApiKey } from './api-key.ts'

describe('hashApiKey', () => {
  it('is the SHA-256 of the key in hex', () => {
    expect(hashApiKey('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
  })
})

describe('apiKeyColumns', () => {
  it('are the hash and six characters, and no more', () => {
    const token = '0123456789abcdef'
    expect(apiKeyColumns(token)).toStrictEqual({ token_hash: hashApiKey(token), token_prefix: '012345' })
  })
})
