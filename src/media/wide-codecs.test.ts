// Legs of Opus, G.722 and G.711 with each other, in virtual time.
import { setImmediate } from 'node:timers/promises'
import { describe, expect, it, vi } from 'vitest'
import { bridge, levelDb, longestGapMs, sine, VirtualLegs } from '../../test/support/virtual-legs.ts'
import { agreedOn, toneDb, WidePhone } from '../../test/support/wide-phone.ts'
import { clockRateOf, type Encoding } from './codecs/codecs.ts'
import type { Decoder } from './codecs/coders.ts'

async function pairOf(a: Encoding, b: Encoding) {
  const legs = new VirtualLegs()
  await legs.coders.prepare(['OPUS'])
  const pair = { legs, a: new WidePhone(legs, 'a', a), b: new WidePhone(legs, 'b', b) }
  await setImmediate()
  bridge(pair.a.leg, pair.b.leg)
  return pair
}

describe('two legs', () => {
  it.each([
    ['OPUS', 'PCMU'],
    ['PCMU', 'OPUS'],
    ['G722', 'PCMA'],
    ['G722', 'OPUS'],
  ] as const)(
    'of %s and %s hear each other as loud as they are, in the clock of each',
    async (one, other) => {
      const { a, b } = await pairOf(one, other)
      await a.say(sine(440), 1500)
      expect(Math.abs(toneDb(await b.heard(700), 440))).toBeLessThan(1)
      const steps = b.leg
        .between(500)
        .map(({ timestamp }, at, all) => timestamp - (all[at - 1]?.timestamp ?? 0))
      expect(new Set(steps.slice(1))).toEqual(new Set([clockRateOf(other) / 50]))
    },
  )

  it.each([
    ['G722', 'OPUS', -2],
    ['OPUS', 'G722', -2],
    ['G722', 'PCMU', -40],
  ] as const)(
    'of %s and %s: a tone that a telephone does not carry comes through at %i dB',
    async (one, other, db) => {
      const { a, b } = await pairOf(one, other)
      await a.say(sine(5500, 0.25), 1500)
      const heard = toneDb(await b.heard(700), other === 'PCMU' ? 2500 : 5500) + 6
      if (db === -40) expect(heard).toBeLessThan(db)
      else expect(heard).toBeGreaterThan(db)
    },
  )

  it.each(['G722', 'OPUS'] as const)(
    'of %s are given the packets of each other as they came',
    async (encoding) => {
      const { legs, a, b } = await pairOf(encoding, encoding)
      const decoder = vi.spyOn(legs.coders, 'decoder')
      const sent = await a.say(sine(440), 1000)
      const late = b.leg.between(500).map(({ payload }) => payload.toString('hex'))
      expect(late.length).toBeGreaterThan(20)
      const all = sent.map((payload) => payload.toString('hex'))
      expect(late.every((payload) => all.includes(payload))).toBe(true)
      // The one decoder of the far end decodes nothing while its packets are passed on.
      expect(decoder.mock.results.length).toBeLessThanOrEqual(1)
    },
  )
})

const loudest = (samples: Float64Array): number =>
  samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0)

it.each(['G722', 'OPUS'] as const)(
  'where packets of %s were passed on and the platform takes over, there is neither a bang nor a hole',
  async (encoding) => {
    const { a, b } = await pairOf(encoding, encoding)
    // Its encoder has a state already, as after a ringing tone.
    b.leg.wire({ hears: [{ id: 'ringing', from: { kind: 'generated', sound: 'ringing' } }] })
    await a.say(sine(440, 0.02), 200)
    const hears = [{ id: 'far', from: { kind: 'session', id: a.leg.stream.id } }] as const
    b.leg.wire({ hears })
    const voice = (seconds: number): number =>
      [1, 2, 3, 5].reduce((sum, n) => sum + sine(180 * n, 0.1)(seconds), 0)
    await a.say(voice, 1200, (packet) => {
      if (packet === 40) b.leg.wire({ hears: [{ ...hears[0], gainDb: -1 }] })
      return false
    })
    const { samples, sampleRate } = await b.heard(600)
    const at = (ms: number): number => (ms * sampleRate) / 1000
    const framesOf = (fromMs: number, toMs: number): number[] =>
      Array.from({ length: (toMs - fromMs) / 20 }, (_, frame) =>
        loudest(samples.subarray(at(fromMs + 20 * frame), at(fromMs + 20 * (frame + 1)))),
      )
    const passed = Math.max(...framesOf(200, 380))
    expect(passed).toBeGreaterThan(0.2)
    // The wiring requests one dB less.
    const coded = framesOf(400, 700).map((level) => level / passed)
    expect(Math.max(...coded)).toBeLessThan(1.2)
    expect(Math.min(...coded)).toBeGreaterThan(0.75)
  },
)

it('silence that lasts is not coded again for Opus, and what follows it is heard as it is', async () => {
  const { legs, a, b } = await pairOf('PCMU', 'OPUS')
  await a.say(sine(440), 500)
  legs.run(1500)
  const silent = b.leg.between(1500).map(({ payload }) => payload.toString('hex'))
  expect(new Set(silent).size).toBe(1)
  await a.say(sine(440), 1000)
  expect(Math.abs(toneDb(await b.heard(2300), 440))).toBeLessThan(1)
})

it('keys are passed on in the clock that each far end counts in, and reported as long as they were', async () => {
  const { legs, a, b } = await pairOf('OPUS', 'PCMU')
  await a.say(sine(440), 400)
  for (const [at, duration] of [960, 4800, 9600, 9600].entries()) {
    const payload = Buffer.from([5, at < 2 ? 0x0a : 0x8a, 0, 0])
    payload.writeUInt16BE(duration, 2)
    a.leg.send({ payload, payloadType: 101, marker: at === 0, sequence: 200 + at, timestamp: 90_000 })
    legs.run(20)
  }
  expect(a.leg.events).toContainEqual({ type: 'digit', digit: '5', durationMs: 200 })
  const events = b.leg.heard.filter(({ payloadType }) => payloadType === 101)
  expect(events.map(({ payload }) => payload.readUInt16BE(2))).toEqual([160, 800, 1600, 1600])
})

it('a room is heard wide by those who can, and narrow by the others, each without its own voice', async () => {
  const legs = new VirtualLegs()
  await legs.coders.prepare(['OPUS'])
  const [a, b, c] = (['G722', 'OPUS', 'PCMU'] as const).map(
    (encoding) => new WidePhone(legs, encoding, encoding),
  )
  await setImmediate()
  for (const phone of [a, b, c])
    phone?.leg.wire({ hears: [{ id: 'room', from: { kind: 'room', id: 'r' } }], speaksIn: { room: 'r' } })
  await a?.say((seconds) => sine(440, 0.25)(seconds) + sine(5000, 0.25)(seconds), 1500)
  const wide = await b?.heard(700)
  const narrow = await c?.heard(700)
  const own = await a?.heard(700)
  if (wide === undefined || narrow === undefined || own === undefined) throw new Error('no one heard')
  expect(Math.abs(toneDb(wide, 440) + 6)).toBeLessThan(1)
  expect(toneDb(wide, 5000) + 6).toBeGreaterThan(-3)
  expect(Math.abs(toneDb(narrow, 440) + 6)).toBeLessThan(1)
  expect(levelDb(own)).toBeLessThan(-40)
})

/** Returns how each gap was filled, by decoders created from now on. */
function gapsOf(legs: VirtualLegs): readonly string[] {
  const gaps: string[] = []
  const decoders = legs.coders.decoder.bind(legs.coders)
  vi.spyOn(legs.coders, 'decoder').mockImplementation((encoding, rate): Decoder => {
    const decoder = decoders(encoding, rate)
    if (decoder.conceal === undefined) return decoder
    return {
      ...decoder,
      conceal: (into, at, count, next) => {
        gaps.push(next === undefined ? 'made up' : 'made good')
        return decoder.conceal?.(into, at, count, next) ?? false
      },
    }
  })
  return gaps
}

async function heardOf(isLost: (packet: number) => boolean) {
  const { legs, a, b } = await pairOf('OPUS', 'G722')
  const gaps = gapsOf(legs)
  const voice = (seconds: number): number =>
    [1, 2, 3, 5].reduce((sum, n) => sum + sine(180 * n, 0.15)(seconds), 0)
  await a.say(voice, 4000, isLost)
  return { gaps, heard: await b.heard(1000) }
}

it('Opus with one packet of ten lost is heard without a gap: nearly all are restored from the next packet', async () => {
  const whole = await heardOf(() => false)
  const { gaps, heard } = await heardOf((packet) => packet % 10 === 7)
  expect(longestGapMs(heard)).toBe(0)
  for (const hz of [180, 360, 540])
    expect(Math.abs(toneDb(heard, hz) - toneDb(whole.heard, hz))).toBeLessThan(2)
  expect(gaps.filter((gap) => gap === 'made good').length).toBeGreaterThanOrEqual(19)
  // The first gap, after which one more packet is kept waiting; and the end.
  expect(gaps.filter((gap) => gap === 'made up').length).toBeLessThanOrEqual(whole.gaps.length + 1)
})

it('after packets of Opus were passed on, the first one decoded is not treated as a loss, and later losses are restored', async () => {
  const { legs, a, b } = await pairOf('OPUS', 'OPUS')
  const gaps = gapsOf(legs)
  const hears = { id: 'far', from: { kind: 'session', id: a.leg.stream.id } } as const
  await a.say(sine(440), 2000, (packet) => {
    if (packet === 30) b.leg.wire({ hears: [{ ...hears, gainDb: -1 }] })
    return packet > 50 && packet % 10 === 7
  })
  // The gaps after these are at the end.
  expect(gaps.slice(0, 5)).toEqual(Array.from({ length: 5 }, () => 'made good'))
})

describe('keys as tones', () => {
  it('are heard in the sound where they are listened for, and the sound stays as it is', async () => {
    const { legs, a, b } = await pairOf('PCMU', 'PCMU')
    a.leg.agree({ hearsTones: true })
    const key = (seconds: number): number =>
      seconds % 0.2 < 0.1 ? sine(770, 0.2)(seconds) + sine(1336, 0.2)(seconds) : 0
    const sent = await a.say(key, 600)
    legs.run(200)
    const digits = a.leg.events.filter(({ type }) => type === 'digit')
    expect(digits).toHaveLength(3)
    expect(digits[0]).toMatchObject({ digit: '5', isTone: true })
    expect(b.leg.between(300).every(({ payload }) => sent.some((one) => one.equals(payload)))).toBe(true)
    a.leg.agree({ hearsTones: false })
    await a.say(key, 400)
    legs.run(200)
    expect(a.leg.events.filter(({ type }) => type === 'digit')).toHaveLength(3)
  })

  it('are sent in the sound, in place of any other, and heard by the other side as what they are', async () => {
    const { legs, a, b } = await pairOf('PCMU', 'OPUS')
    b.leg.agree({ ...agreedOn('OPUS') })
    const pressed = a.leg.stream.sendKeys({ digits: '7', durationMs: 160, isTone: true })
    await b.say(sine(440), 600)
    await pressed
    const heard = a.leg.audio(0, 160)
    expect(toneDb(heard, 852)).toBeGreaterThan(-8)
    expect(toneDb(heard, 1209)).toBeGreaterThan(-8)
    expect(a.leg.heard.filter(({ payloadType }) => payloadType === 101)).toEqual([])
    legs.run(20)
  })
})
