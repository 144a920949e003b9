import { describe, expect, it } from 'vitest'
import { codecNamed, clockRateOf, codecs, weightOf } from './codecs.ts'
import { clipLawOf, createCoders, frameSamples } from './coders.ts'
import { createLaws } from './g711.ts'

const laws = createLaws()
const coders = createCoders(laws)

describe.each(codecs)('the codec $encoding', ({ encoding, clockRate, payloadType, weight }) => {
  const coder = coders[encoding]()

  it('is found by its name and clock in SDP, and by no other', () => {
    expect(codecNamed(encoding, clockRate)?.payloadType).toBe(payloadType)
    expect(codecNamed(encoding, 16_000)).toBeUndefined()
    expect(codecNamed(encoding.toLowerCase(), clockRate)).toBeUndefined()
    expect(clockRateOf(encoding)).toBe(clockRate)
    expect(weightOf(encoding)).toBe(weight)
    expect(clipLawOf(encoding)).toBe(encoding)
  })

  it('codes a frame of 20 ms and gives it back as loud as it was', () => {
    const frame = Int16Array.from({ length: frameSamples }, (_, at) => Math.round(12_000 * Math.sin(at / 5)))
    const octets = new Uint8Array(coder.maxOctets)
    const length = coder.encode(frame, octets, 0)
    expect(length).toBeLessThanOrEqual(coder.maxOctets)
    const payload = octets.subarray(0, length)
    expect(coder.samplesOf(payload)).toBe(frameSamples)
    const back = new Int16Array(frameSamples)
    coder.decode(payload, back, 0)
    for (const [at, sample] of frame.entries())
      expect(Math.abs((back[at] ?? 0) - sample)).toBeLessThan(Math.max(40, Math.abs(sample) / 16))
  })

  it('writes at the place that it is given, both ways', () => {
    const octets = new Uint8Array(400)
    coder.encode(new Int16Array(frameSamples).fill(5000), octets, 100)
    expect(octets.subarray(0, 100).every((octet) => octet === 0)).toBe(true)
    expect(octets.subarray(260).every((octet) => octet === 0)).toBe(true)
    const samples = new Int16Array(400)
    coder.decode(octets.subarray(100, 180), samples, 50)
    expect(samples.findIndex((sample) => sample !== 0)).toBe(50)
    expect(samples.findLastIndex((sample) => sample !== 0)).toBe(129)
  })

  it('has a silence that is one', () => {
    const samples = new Int16Array(frameSamples).fill(99)
    coder.decode(coder.silence, samples, 0)
    expect(coder.silence).toHaveLength(frameSamples)
    expect(samples.every((sample) => Math.abs(sample) <= 8)).toBe(true)
  })

  it('takes payloads of any length that a packet has', () => {
    for (const length of [0, 1, 40, 240, 1200]) expect(coder.samplesOf(new Uint8Array(length))).toBe(length)
  })
})

describe('a codec that is not spoken', () => {
  it.each(['G729', 'GSM', 'opus', 'TELEPHONE-EVENT', ''])('%s is not found', (name) => {
    expect(codecNamed(name, 8000)).toBeUndefined()
  })

  it('counts like the lightest before there is an agreement', () => {
    expect(weightOf()).toBe(1)
  })

  it('has no number of another one in our offers', () => {
    expect(new Set(codecs.map(({ payloadType }) => payloadType)).size).toBe(codecs.length)
  })
})
