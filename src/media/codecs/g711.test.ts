import { describe, expect, it } from 'vitest'
import { createLaws, type Law } from './g711.ts'

const laws = createLaws()
const octets = Array.from({ length: 256 }, (_, octet) => octet)

describe.each(['PCMU', 'PCMA'] satisfies Law[])('%s', (law) => {
  const { encode, decode, silence } = laws[law]

  it('gives every octet back after decoding and encoding it', () => {
    for (const octet of octets) {
      // The mu-law has two zeros; the encoder uses the positive one.
      const expected = law === 'PCMU' && octet === 0x7f ? 0xff : octet
      expect(encode[(decode[octet] ?? 0) & 0xffff]).toBe(expected)
    }
  })

  it('never moves a sample by more than half a step of its segment, clipping apart', () => {
    for (let sample = -32_000; sample <= 32_000; sample += 1) {
      const back = decode[encode[sample & 0xffff] ?? 0] ?? 0
      expect(Math.abs(back - sample)).toBeLessThanOrEqual(Math.max(8, Math.abs(sample) / 31 + 4))
    }
  })

  it('is monotonic and keeps silence silent', () => {
    let last = -Infinity
    for (let sample = -32_768; sample < 32_768; sample += 1) {
      const back = decode[encode[sample & 0xffff] ?? 0] ?? 0
      expect(back).toBeGreaterThanOrEqual(last)
      last = back
    }
    expect(encode[0]).toBe(silence)
  })
})

describe('known values of ITU-T G.711', () => {
  it.each([
    ['PCMU', 0xff, 0],
    ['PCMU', 0x00, -32_124],
    ['PCMU', 0x80, 32_124],
    ['PCMU', 0xf0, 120],
    ['PCMA', 0xd5, 8],
    ['PCMA', 0x55, -8],
    ['PCMA', 0xaa, 32_256],
    ['PCMA', 0x2a, -32_256],
    ['PCMA', 0xc5, 264],
  ] as const)('%s decodes %i to %i', (law, octet, sample) => {
    expect(laws[law].decode[octet]).toBe(sample)
  })
})
