import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { G722Decoder, G722Encoder } from './g722.ts'

/**
 * Returns two seconds of noise in eight levels up to 4096 of 32768, never so loud that the decoded sound is clipped.
 */
function noise(): Int16Array {
  let seed = 1
  return Int16Array.from({ length: 32_000 }, (_, at) => {
    const level = 1 << (Math.floor(at / 4000) + 5)
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
    return ((seed >>> 16) % (2 * level)) - level
  })
}

const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/** Returns the noise coded in pieces of `piece` samples. */
function coded(piece: number): Uint8Array {
  const samples = noise()
  const octets = new Uint8Array(16_000)
  const encoder = new G722Encoder()
  for (let from = 0; from < samples.length; from += piece)
    encoder.encode(samples.subarray(from, from + piece), octets, from / 2)
  return octets
}

// The hashes are those of libspandsp 0.0.6 for this noise, coded and decoded. It is bit-exact with the test sequences
// of ITU-T G.722 Appendix II in the two bands; the filters before and after them are the same.
describe('G.722 at 64 kbit/s', () => {
  it.each([320, 160, 1000])('codes noise bit for bit, in pieces of %i samples', (piece) => {
    const octets = coded(piece)
    expect(Buffer.from(octets.subarray(0, 8)).toString('hex')).toBe('7ade77f2f09392e8')
    expect(hashOf(octets)).toBe('cc27c26e303f4213445538662b300e4e099b49f44da2f6c2d8aa40732d2a982f')
  })

  it.each([160, 80, 700])('decodes it bit for bit, in payloads of %i octets', (piece) => {
    const octets = coded(320)
    const heard = new Int16Array(32_000)
    const decoder = new G722Decoder()
    for (let from = 0; from < octets.length; from += piece)
      decoder.decode(octets.subarray(from, from + piece), heard, 2 * from)
    expect([...heard.subarray(8000, 8004)]).toEqual([-9, 43, 38, 44])
    expect(hashOf(new Uint8Array(heard.buffer))).toBe(
      '79436341aee384d4c52f9bb701dd2d869c693373263a9617f6b1c326e10db403',
    )
  })

  it('clips sound that is too loud, and never overflows', () => {
    const octets = new Uint8Array(160)
    const heard = new Int16Array(320)
    const encoder = new G722Encoder()
    const decoder = new G722Decoder()
    for (let frame = 0; frame < 10; frame += 1) {
      const loud = Int16Array.from({ length: 320 }, (_, at) => (at % 80 < 40 ? 32_767 : -32_768))
      encoder.encode(loud, octets, 0)
      decoder.decode(octets, heard, 0)
    }
    // A square wave: within each half, except at its edges, the sign is constant.
    const at = (index: number): number => Math.sign(heard[index] ?? 0)
    const turns = Array.from({ length: 319 }, (_, index) => at(index) * at(index + 1)).filter(
      (sign) => sign < 0,
    )
    expect(turns.length).toBe(8)
  })
})
