import { setImmediate } from 'node:timers/promises'
import { beforeAll, describe, expect, it } from 'vitest'
import { maxOpusOctets, OpusLibrary, opusSamples, usualWishes } from './opus.ts'

const library = new OpusLibrary()
beforeAll(() => library.load())

const frame = 320

/** Returns a simple voice: a gliding pitch with its harmonics, in syllables. */
function voice(frames: number): Int16Array {
  let phase = 0
  return Int16Array.from({ length: frames * frame }, (_, at) => {
    const seconds = at / 16_000
    phase += (2 * Math.PI * (140 + 30 * Math.sin(4 * seconds))) / 16_000
    const harmonics = [1, 2, 3, 4, 5, 8, 12].reduce((sum, n) => sum + Math.sin(n * phase) / n, 0)
    return Math.round(5000 * (0.6 + 0.4 * Math.sin(2 * Math.PI * 3 * seconds)) * harmonics)
  })
}

async function packetsOf(frames: number, wishes = usualWishes): Promise<Uint8Array[]> {
  const encoder = library.encoder(16_000, wishes)
  await setImmediate()
  if (wishes.fec) encoder.expectLoss(10)
  const samples = voice(frames)
  const into = new Uint8Array(maxOpusOctets)
  const packets = Array.from({ length: frames }, (_, index) =>
    into.slice(0, encoder.encode(samples.subarray(index * frame, (index + 1) * frame), into, 0)),
  )
  encoder.close()
  return packets
}

type Gap = 'silence' | 'made up' | 'from the next packet'

/** Loses every tenth packet, and returns the level of the error in the lost frames, in dB below the sound. */
async function heardWithout(packets: readonly Uint8Array[], gap: Gap): Promise<number> {
  const [whole, lossy] = [library.decoder(16_000), library.decoder(16_000)]
  await setImmediate()
  const [right, heard] = [new Int16Array(frame), new Int16Array(frame)]
  let [power, off] = [0, 0]
  for (const [index, packet] of packets.entries()) {
    whole.decode(packet, right, 0)
    const isLost = index % 10 === 9
    if (!isLost) lossy.decode(packet, heard, 0)
    else if (gap === 'silence') heard.fill(0)
    else expect(lossy.conceal(heard, 0, frame, gap === 'made up' ? undefined : packets[index + 1])).toBe(true)
    if (!isLost || index + 1 === packets.length) continue
    for (const [at, sample] of right.entries()) {
      power += sample * sample
      off += (sample - (heard[at] ?? 0)) ** 2
    }
  }
  whole.close()
  lossy.close()
  return 10 * Math.log10(power / off)
}

describe('with one packet of ten lost', () => {
  it('the copy in the next packet sounds better than concealment, and concealment better than silence', async () => {
    const packets = await packetsOf(300)
    const nothing = await heardWithout(packets, 'silence')
    const madeUp = await heardWithout(packets, 'made up')
    const fromNext = await heardWithout(packets, 'from the next packet')
    expect(nothing).toBeCloseTo(0, 1)
    expect(madeUp).toBeGreaterThan(3)
    expect(fromNext).toBeGreaterThan(madeUp + 3)
  })

  it('packets for a far end that does not use such copies contain none', async () => {
    const packets = await packetsOf(100, { ...usualWishes, fec: false })
    const fromNext = await heardWithout(packets, 'from the next packet')
    expect(fromNext).toBeCloseTo(await heardWithout(packets, 'made up'), 0)
  })
})

// RFC 6716 §3.1: the configurations from 16 on are CELT.
const isCelt = (packet: Uint8Array): boolean => (packet[0] ?? 0) >> 3 >= 16
const octetsOf = (packets: readonly Uint8Array[]): number =>
  packets.reduce((sum, { length }) => sum + length, 0) / packets.length

describe('a coder', () => {
  it('uses CELT for a far end without loss, fewer bits of SILK during loss, and changes inaudibly', async () => {
    const encoder = library.encoder(16_000, usualWishes)
    const decoder = library.decoder(16_000)
    await setImmediate()
    const samples = voice(150)
    const into = new Uint8Array(maxOpusOctets)
    const heard = new Int16Array(samples.length)
    const packets = Array.from({ length: 150 }, (_, index) => {
      if (index === 50) encoder.expectLoss(5)
      if (index === 100) encoder.expectLoss(0)
      const packet = into.slice(
        0,
        encoder.encode(samples.subarray(index * frame, (index + 1) * frame), into, 0),
      )
      decoder.decode(packet, heard, index * frame)
      return packet
    })
    encoder.close()
    decoder.close()
    // One more packet of the former kind is the transition.
    expect(packets.slice(0, 50).every(isCelt)).toBe(true)
    expect(packets.slice(52, 100).some(isCelt)).toBe(false)
    expect(packets.slice(102).every(isCelt)).toBe(true)
    expect(octetsOf(packets.slice(0, 50))).toBeLessThan(130)
    expect(octetsOf(packets.slice(52, 100))).toBeLessThan(80)
    const step = (of: Int16Array, from: number, to: number): number =>
      of
        .subarray(from * frame, to * frame)
        .reduce((most, sample, at) => Math.max(most, Math.abs(sample - (of[from * frame + at - 1] ?? 0))), 0)
    expect(step(heard, 5, 150)).toBeLessThan(1.2 * step(samples, 5, 150))
  })

  it('keeps to SILK for a far end that does not want as many bits', async () => {
    const packets = await packetsOf(50, { ...usualWishes, fec: false, maxBitrate: 40_000 })
    expect(packets.some(isCelt)).toBe(false)
    expect(octetsOf(packets)).toBeLessThan(80)
  })

  it('takes no more bits than are wanted, and all packets of one size where they are', async () => {
    const sizes = (await packetsOf(100, { fec: false, maxBitrate: 12_000, isConstant: true })).map(
      (one) => one.length,
    )
    expect(new Set(sizes)).toEqual(new Set([30]))
  })

  it('conceals an invalid packet, and cannot conceal a gap that is not a multiple of 2.5 ms', async () => {
    const decoder = library.decoder(16_000)
    await setImmediate()
    const heard = new Int16Array(960).fill(9)
    decoder.decode(Uint8Array.of(0x4b, 0xff, 0xff, 0xff, 0xff), heard, 0)
    expect(decoder.conceal(heard, 0, 41, undefined)).toBe(false)
    expect(decoder.conceal(heard, 0, 40, undefined)).toBe(true)
    decoder.close()
    decoder.close()
    expect(decoder.conceal(heard, 0, 40, undefined)).toBe(false)
  })
})

it.each([
  ['silk, 20 ms', [0x48], 160],
  ['silk, 60 ms', [0x58], 480],
  ['hybrid, 10 ms', [0x60], 80],
  ['celt, 2.5 ms', [0x80], 20],
  ['celt, 20 ms', [0xf8], 160],
  ['two frames', [0x49], 320],
  ['two frames of two sizes', [0x4a], 320],
  ['six frames', [0x4b, 6], 960],
  ['more than 120 ms', [0x4b, 7], 0],
  ['no frames', [0x4b, 0x80], 0],
  ['nothing', [], 0],
] as const)('a packet of %s has its length in its first octets', (_name, octets, samples) => {
  expect(opusSamples(Uint8Array.from(octets))).toBe(samples)
})
