import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { readCrypto, toInline } from './crypto-lines.ts'

// From the examples of RFC 4568 §4.
const key = 'WVNfX19zZW1jdGwgKCkgewkyMjA7fQp9CnVubGVz'
const other = 'PS1uQCVeeCFCanVmcjkpPywjNWhcYD0mXXtxaVBR'
const named = 'AES_CM_128_HMAC_SHA1_80'
const longKey = randomBytes(46)

const usable = (value: string): unknown =>
  readCrypto([value]).usable.map(({ tag, suite, key: octets }) => [
    tag,
    suite,
    Buffer.from(octets).toString('base64'),
  ])

describe('a line that can be chosen', () => {
  it.each([
    ['one key', `1 ${named} inline:${key}`],
    ['a lifetime as a power of two', `1 ${named} inline:${key}|2^20`],
    ['a lifetime in digits', `1 ${named} inline:${key}|1048576`],
    ['a suite in small letters', `1 ${named.toLowerCase()} inline:${key}`],
    ['a hint of a window', `1 ${named} inline:${key} WSH=128`],
    ['no derivation of further keys', `1 ${named} inline:${key} KDR=0`],
    ['a parameter that need not be understood', `1 ${named} inline:${key} -NEW=1 WSH=64`],
  ])('has %s', (_, value) => {
    expect(usable(value)).toEqual([[1, named, key]])
  })

  it.each([true, false])('has its key in base64, and padding if it likes: %s', (isPadded) => {
    const line = { tag: 7, suite: 'AES_256_CM_HMAC_SHA1_80', key: longKey } as const
    const value = `7 ${line.suite} ${toInline(line, isPadded)}`
    expect(value.endsWith('==')).toBe(isPadded)
    expect(usable(value)).toEqual([[7, line.suite, longKey.toString('base64')]])
  })
})

it.each([
  ['|1:1', '01'],
  ['|1:4', '00000001'],
  ['|4294967295:4', 'ffffffff'],
  ['|258:2', '0102'],
])('has an MKI as %s, with or without a lifetime', (marker, octets) => {
  const [line] = readCrypto([`1 ${named} inline:${key}|2^31${marker}`]).usable
  if (line === undefined) return expect.fail()
  expect(Buffer.from(line.mki ?? []).toString('hex')).toBe(octets)
  expect(readCrypto([`1 ${named} inline:${key}${marker}`]).usable).toEqual([line])
  expect(toInline(line, false)).toBe(`inline:${key}${marker}`)
})

describe('a line that is not chosen', () => {
  it.each([
    ['an unknown suite', `1 F8_128_HMAC_SHA1_80 inline:${key}`, 'F8_128_HMAC_SHA1_80'],
    ['a name that every object has', `1 toString inline:${key}`, 'toString'],
    ['an MKI of no octet', `1 ${named} inline:${key}|2^20|0:0`, `${named} with an MKI that is not served`],
    ['a long MKI', `1 ${named} inline:${key}|2^20|1:5`, `${named} with an MKI that is not served`],
    [
      'an MKI that its octets do not hold',
      `1 ${named} inline:${key}|256:1`,
      `${named} with an MKI that is not served`,
    ],
    ['two keys', `1 ${named} inline:${key}|2^20|1:4;inline:${other}|2^20|2:4`, `${named} with several keys`],
    ['a key that is too short', `1 ${named} inline:${key.slice(4)}`, `${named} with a key of 27 octets`],
    ['a key that is too long', `1 ${named} inline:${key}AAAA`, `${named} with a key of 33 octets`],
    ['no key', `1 ${named} inline:`, `${named} with a key that cannot be read`],
    ['another method', `1 ${named} uri:${key}`, `${named} with a key that cannot be read`],
    ['a lifetime of nothing', `1 ${named} inline:${key}|0`, `${named} with a lifetime out of range`],
    [
      'a lifetime beyond all packets',
      `1 ${named} inline:${key}|2^49`,
      `${named} with a lifetime out of range`,
    ],
    [
      'packets in the clear',
      `1 ${named} inline:${key} UNENCRYPTED_SRTP`,
      `${named} with session parameters that are not served`,
    ],
    [
      'reports in the clear',
      `1 ${named} inline:${key} UNENCRYPTED_SRTCP`,
      `${named} with session parameters that are not served`,
    ],
    [
      'packets that are not authentic',
      `1 ${named} inline:${key} UNAUTHENTICATED_SRTP`,
      `${named} with session parameters that are not served`,
    ],
    [
      'a rate of derivation',
      `1 ${named} inline:${key} KDR=10`,
      `${named} with session parameters that are not served`,
    ],
    [
      'an unknown parameter after a known one',
      `1 ${named} inline:${key} WSH=64 NEW=1`,
      `${named} with session parameters that are not served`,
    ],
    ['no tag', `${named} inline:${key}`, 'a line that cannot be read'],
  ])('has %s', (_, value, name) => {
    expect(readCrypto([value])).toMatchObject({ usable: [], others: [{ text: name }] })
  })
})

it('reads a bounded number of lines, in their order and each tag once', () => {
  const values = Array.from({ length: 200 }, (_, index) => `${index >> 1} ${named} inline:${key}`)
  expect(readCrypto(values).usable.map(({ tag }) => tag)).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
})
