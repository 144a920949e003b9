// Files mixed with other sounds: their gains, their silence under playbacks, and their removal.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { tone, toneShare, toWav } from '../../../test/support/audio.ts'
import {
  clicks,
  laws,
  levelDb,
  sine,
  VirtualLegs,
  type VirtualPhone,
} from '../../../test/support/virtual-legs.ts'
import { until } from '../../../test/support/wait.ts'
import { Clips } from '../clips/clips.ts'
import type { Layer } from '../wiring.ts'

let directory: string
let clips: Clips

const pathOf = (name: string): string => join(directory, name)
const clipLayer = (id: string, file: string, rest: Partial<Layer> = {}): Layer => ({
  id,
  from: { kind: 'clip', path: pathOf(file), rounds: Infinity },
  ...rest,
})

function legsWith(): { legs: VirtualLegs; phone: VirtualPhone } {
  const legs = new VirtualLegs(clips)
  return { legs, phone: legs.leg('phone') }
}

/** Waits for a file. Reading takes real time, while virtual time stands still. */
async function soundOf(legs: VirtualLegs, phone: VirtualPhone): Promise<void> {
  const from = legs.nowMs
  await until('the file to be read', () => {
    legs.run(20)
    return phone.between(from).some(({ payload }) => payload.some((octet) => octet !== 0xff))
  })
}

function play(phone: VirtualPhone, file: string, id = 1): Promise<{ reason: string; playedMs: number }> {
  return phone.stream.play({ id, path: pathOf(file), offsetMs: 0, rounds: 1, follows: false })
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'layers-'))
  // 400 and 1000 Hz have whole periods in a second, so that they repeat without a break.
  await writeFile(pathOf('low.wav'), toWav(tone(400, 1000)))
  await writeFile(pathOf('high.wav'), toWav(tone(1000, 1000)))
  await writeFile(pathOf('short.wav'), toWav(tone(700, 200)))
  await writeFile(pathOf('page.wav'), '<html>')
  clips = new Clips({
    laws,
    directory,
    maxMemoryBytes: 10_000_000,
    maxDiskBytes: 0,
    maxIdleDiskBytes: 0,
  })
})

afterAll(async () => {
  await rm(directory, { recursive: true })
})

describe('a layer of a file', () => {
  it('is heard as the file is, in the same octets as a playback', async () => {
    const { legs, phone } = legsWith()
    phone.wire({ hears: [clipLayer('music', 'low.wav')] })
    await soundOf(legs, phone)
    const from = legs.nowMs
    legs.run(3000)
    const audio = phone.audio(from)
    expect(Math.abs(levelDb(audio))).toBeLessThan(0.1)
    expect(toneShare(audio, 400)).toBeGreaterThan(0.999)
    expect(clicks(audio, 400)).toEqual([])
    expect(phone.heard.filter(({ marker }) => marker)).toHaveLength(2)
  })

  it.each([-20, -6, 6])('has its gain of %i dB', async (gainDb) => {
    const { legs, phone } = legsWith()
    phone.wire({ hears: [clipLayer('music', 'low.wav', { gainDb })] })
    await soundOf(legs, phone)
    const from = legs.nowMs
    legs.run(1000)
    const level = levelDb(phone.audio(from))
    // Half of the scale plus 6 dB is the full scale.
    expect(Math.abs(level - gainDb)).toBeLessThan(1)
  })

  it('changes its gain without beginning again, and without a click', async () => {
    const { legs, phone } = legsWith()
    phone.wire({ hears: [clipLayer('music', 'low.wav')] })
    await soundOf(legs, phone)
    const from = legs.nowMs
    legs.run(500)
    phone.wire({ hears: [clipLayer('music', 'low.wav', { gainDb: -12 })] })
    legs.run(500)
    phone.wire({ hears: [clipLayer('music', 'low.wav', { gainDb: -Infinity })] })
    legs.run(500)
    phone.wire({ hears: [clipLayer('music', 'low.wav')] })
    legs.run(500)
    expect(clicks(phone.audio(from), 400, { tolerance: 0.3 })).toEqual([])
    const at = (ms: number): number => levelDb(phone.audio(from + ms, from + ms + 300))
    expect(at(100)).toBeCloseTo(0, 0)
    expect(at(600)).toBeCloseTo(-12, 0)
    expect(at(1100)).toBeLessThan(-50)
    expect(at(1600)).toBeCloseTo(0, 0)
  })

  it('is mixed with others, and leaves them undisturbed when it goes', async () => {
    const { legs, phone } = legsWith()
    const low = clipLayer('low', 'low.wav', { gainDb: -6 })
    phone.wire({ hears: [low] })
    await soundOf(legs, phone)
    phone.wire({ hears: [low, clipLayer('high', 'high.wav', { gainDb: -6 })] })
    await until('the second file', () => {
      legs.run(20)
      return toneShare(phone.audio(legs.nowMs - 40), 1000) > 0.3
    })
    const both = legs.nowMs
    legs.run(1000)
    phone.wire({ hears: [low] })
    legs.run(20)
    const one = legs.nowMs
    legs.run(1000)
    expect(toneShare(phone.audio(both, both + 1000), 400)).toBeCloseTo(0.5, 1)
    expect(toneShare(phone.audio(both, both + 1000), 1000)).toBeCloseTo(0.5, 1)
    expect(toneShare(phone.audio(one), 400)).toBeGreaterThan(0.99)
  })

  it('reports when it has been played, and when it could not be', async () => {
    const { legs, phone } = legsWith()
    const once = { kind: 'clip', path: pathOf('short.wav') } as const
    phone.wire({
      hears: [
        { id: 'once', from: once },
        { id: 'none', from: { kind: 'clip', path: pathOf('none.wav') } },
        { id: 'page', from: { kind: 'clip', path: pathOf('page.wav') } },
        clipLayer('music', 'low.wav'),
      ],
    })
    await until('three ends', () => {
      legs.run(20)
      return phone.events.length === 3
    })
    phone.wire({})
    legs.run(20)
    await until('the last end', () => phone.events.length === 4)
    expect(phone.events).toContainEqual({ type: 'layer-ended', layer: 'once', reason: 'completed' })
    expect(phone.events).toContainEqual({ type: 'layer-ended', layer: 'none', reason: 'failed' })
    expect(phone.events).toContainEqual({ type: 'layer-ended', layer: 'page', reason: 'failed' })
    expect(phone.events).toContainEqual({ type: 'layer-ended', layer: 'music', reason: 'stopped' })
  })

  it('with another source under the same id is another one', async () => {
    const { legs, phone } = legsWith()
    phone.wire({ hears: [clipLayer('music', 'low.wav')] })
    await soundOf(legs, phone)
    phone.wire({ hears: [clipLayer('music', 'high.wav')] })
    await until('the other file', () => {
      legs.run(20)
      return toneShare(phone.audio(legs.nowMs - 60), 1000) > 0.95
    })
    legs.run(500)
    expect(toneShare(phone.audio(legs.nowMs - 400), 1000)).toBeGreaterThan(0.99)
  })

  it('goes out in the law of the phone, also when a re-offer changes it', async () => {
    const { legs, phone } = legsWith()
    phone.wire({ hears: [clipLayer('music', 'low.wav')] })
    await soundOf(legs, phone)
    phone.law = 'PCMA'
    phone.agree({})
    const from = legs.nowMs
    legs.run(1000)
    expect(phone.between(from).every(({ payloadType }) => payloadType === 8)).toBe(true)
    expect(Math.abs(levelDb(phone.audio(from)))).toBeLessThan(0.5)
    expect(clicks(phone.audio(from), 400)).toEqual([])
  })

  it('that was stated before offer and answer begins with them', async () => {
    const legs = new VirtualLegs(clips)
    const phone = legs.leg('phone', { isAgreed: false })
    phone.wire({ hears: [clipLayer('music', 'low.wav')] })
    legs.run(200)
    expect(phone.heard).toEqual([])
    phone.agree({})
    await soundOf(legs, phone)
    expect(phone.heard.length).toBeGreaterThan(0)
  })
})

describe('the gain of all that is heard', () => {
  it.each([-12, 6])(
    'of %i dB holds for files, playbacks and the other side of a bridge',
    async (hearsGainDb) => {
      const { legs, phone } = legsWith()
      const speaker = legs.leg('speaker')
      speaker.speak({ sound: sine(400, 0.25) })
      phone.wire({ hears: [{ id: 'far', from: { kind: 'session', id: 'speaker' } }], hearsGainDb })
      legs.run(1000)
      expect(levelDb(phone.audio(legs.nowMs - 500), 0.25)).toBeCloseTo(hearsGainDb, 0)
      phone.wire({ hears: [clipLayer('music', 'low.wav', { gainDb: -6 })], hearsGainDb })
      // The other side fades in within one frame.
      legs.run(40)
      await soundOf(legs, phone)
      legs.run(600)
      expect(levelDb(phone.audio(legs.nowMs - 500), 0.25)).toBeCloseTo(hearsGainDb, 0)
      const playing = play(phone, 'high.wav')
      await until('the playback', () => {
        legs.run(20)
        return toneShare(phone.audio(legs.nowMs - 40), 1000) > 0.9
      })
      const from = legs.nowMs
      legs.run(500)
      // The file is at half of the scale.
      expect(Math.abs(levelDb(phone.audio(from)) - hearsGainDb)).toBeLessThan(1)
      legs.run(600)
      await playing
    },
  )

  it('changes without a click, and gives way to packets as they come when it is taken back', () => {
    const { legs, phone } = legsWith()
    const speaker = legs.leg('speaker')
    speaker.speak({ sound: sine(400, 0.25) })
    const hears = [{ id: 'far', from: { kind: 'session', id: 'speaker' } }] as const
    phone.wire({ hears })
    legs.run(1000)
    const from = legs.nowMs
    phone.wire({ hears, hearsGainDb: 6 })
    legs.run(500)
    expect(phone.between(from + 100).every(({ atMs }) => atMs % 20 === 7)).toBe(true)
    phone.wire({ hears })
    legs.run(1000)
    expect(clicks(phone.audio(from), 400, { level: 0.5, tolerance: 0.3 })).toEqual([])
    // Phones send at 0, 20, 40 ms; ticks are at 7, 27, 47.
    expect(phone.between(legs.nowMs - 300).every(({ atMs }) => atMs % 20 === 0)).toBe(true)
  })
})

describe('a playback over layers', () => {
  it('silences them while it sounds, and they come back at the position they would have reached', async () => {
    const { legs, phone } = legsWith()
    const speaker = legs.leg('speaker')
    speaker.speak({ sound: sine(400) })
    phone.wire({ hears: [{ id: 'far', from: { kind: 'session', id: 'speaker' } }] })
    legs.run(500)
    const playing = play(phone, 'high.wav')
    await until('the playback', () => {
      legs.run(20)
      return toneShare(phone.audio(legs.nowMs - 40), 1000) > 0.9
    })
    const from = legs.nowMs
    legs.run(800)
    expect(toneShare(phone.audio(from, from + 800), 1000)).toBeGreaterThan(0.99)
    legs.run(500)
    expect((await playing).reason).toBe('completed')
    const back = phone.audio(legs.nowMs - 200)
    expect(toneShare(back, 400)).toBeGreaterThan(0.99)
    expect(Math.abs(levelDb(back))).toBeLessThan(0.5)
    const numbers = phone.between(0).map(({ sequence }) => sequence)
    expect(numbers.every((one, at) => at === 0 || ((one - (numbers[at - 1] ?? 0)) & 0xffff) === 1)).toBe(true)
  })

  it('leaves a layer at the gain that it states for playbacks', async () => {
    const { legs, phone } = legsWith()
    phone.wire({ hears: [clipLayer('music', 'low.wav', { gainDb: -6, gainUnderPlayDb: -20 })] })
    await soundOf(legs, phone)
    const playing = play(phone, 'high.wav')
    await until('the playback', () => {
      legs.run(20)
      return toneShare(phone.audio(legs.nowMs - 40), 1000) > 0.5
    })
    const from = legs.nowMs
    legs.run(600)
    const under = phone.audio(from, from + 600)
    // One at 0 dB, the other at -20: a hundredth of the power.
    expect(toneShare(under, 1000)).toBeGreaterThan(0.97)
    expect(toneShare(under, 400)).toBeCloseTo(0.01, 2)
    legs.run(800)
    await playing
    expect(levelDb(phone.audio(legs.nowMs - 300))).toBeCloseTo(-6, 0)
  })

  it('is stopped without a click: its last frame fades', async () => {
    const { legs, phone } = legsWith()
    const playing = play(phone, 'low.wav')
    await soundOf(legs, phone)
    const from = legs.nowMs
    legs.run(300)
    phone.stream.stopPlay(1)
    legs.run(300)
    expect((await playing).reason).toBe('stopped')
    const audio = phone.audio(from)
    expect(clicks(audio, 400, { tolerance: 0.3 })).toEqual([])
    expect(levelDb({ ...audio, samples: audio.samples.subarray(8 * 340) })).toBeLessThan(-60)
  })

  it('gives way to the next one without a click', async () => {
    const { legs, phone } = legsWith()
    const first = play(phone, 'low.wav')
    await soundOf(legs, phone)
    const from = legs.nowMs
    legs.run(313)
    const second = play(phone, 'low.wav', 2)
    expect((await first).reason).toBe('stopped')
    let hasEnded = false
    void second.then(() => (hasEnded = true))
    await until('the end of the second', () => {
      legs.run(20)
      return hasEnded
    })
    expect(await second).toEqual({ reason: 'completed', playedMs: 1000 })
    // There is silence until the second file is open; it begins at its own gain.
    expect(clicks(phone.audio(from, from + 340), 400, { tolerance: 0.3 })).toEqual([])
  })
})
