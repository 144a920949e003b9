import { setImmediate } from 'node:timers/promises'
import { beforeAll, describe, expect, it } from 'vitest'
import { codecNamed, clockRateOf, codecs, weightOf } from './codecs.ts'
import { createCoders, frameSamplesAt } from './coders.ts'
import { createLaws } from './g711.ts'

const coders = createCoders(createLaws())
beforeAll(() => coders.prepare(['OPUS']))

const frames = 25

describe.each(codecs)('the codec $encoding', ({ encoding, clockRate, rate, payloadType, weight }) => {
  const samples = frameSamplesAt(rate)

  it('is found by its name and clock in SDP, and by no other', () => {
    expect(codecNamed(encoding, clockRate)?.payloadType).toBe(payloadType)
    expect(codecNamed(encoding, 16_000)).toBeUndefined()
    expect(codecNamed(encoding.toLowerCase(), clockRate)).toBeUndefined()
    expect(clockRateOf(encoding)).toBe(clockRate)
    expect(weightOf(encoding)).toBe(weight)
  })

  it.each([rate, 8000] as const)('gives a tone back as loud as it was, at %i Hz', async (heardRate) => {
    const encoder = coders.encoder(encoding)
    const decoder = coders.decoder(encoding, heardRate)
    // The library creates its states in promises.
    await setImmediate()
    const octets = new Uint8Array(encoder.maxOctets + 10)
    const heard = new Int16Array(frames * frameSamplesAt(heardRate))
    for (let frame = 0; frame < frames; frame += 1) {
      const tone = Int16Array.from({ length: samples }, (_, at) =>
        Math.round(8000 * Math.sin((2 * Math.PI * 440 * (frame * samples + at)) / rate)),
      )
      const length = encoder.encode(tone, octets, 10)
      expect(length).toBeLessThanOrEqual(encoder.maxOctets)
      const payload = octets.subarray(10, 10 + length)
      expect(decoder.timeOf(payload)).toBe(160)
      decoder.decode(payload, heard, frame * frameSamplesAt(heardRate))
    }
    expect(octets.subarray(0, 10).every((octet) => octet === 0)).toBe(true)
    const later = heard.subarray(heard.length / 2)
    const level = Math.sqrt(later.reduce((sum, sample) => sum + sample * sample, 0) / later.length)
    expect(level).toBeGreaterThan(5000)
    expect(level).toBeLessThan(6300)
    const crossings = later.filter((sample, at) => at > 0 && sample >= 0 && (later[at - 1] ?? 0) < 0).length
    expect(crossings).toBeCloseTo((440 * later.length) / heardRate, -1)
    encoder.close()
    decoder.close()
  })

  it('decodes its octets of silence to silence, if it has any', () => {
    const { silence } = coders.encoder(encoding)
    if (silence === undefined) return expect(['G722', 'OPUS']).toContain(encoding)
    const heard = new Int16Array(samples).fill(99)
    coders.decoder(encoding).decode(silence, heard, 0)
    expect(heard.every((sample) => Math.abs(sample) <= 8)).toBe(true)
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
