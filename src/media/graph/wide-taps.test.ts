// Taps at 16 kHz: the band of a wide codec for other threads, in both directions, and only the band of a telephone if
// the codec has no more.
import { setImmediate } from 'node:timers/promises'
import { describe, expect, it, vi } from 'vitest'
import { slice, toneShare, type Audio } from '../../../test/support/audio.ts'
import { clicks, levelDb, longestGapMs, sine, VirtualLegs } from '../../../test/support/virtual-legs.ts'
import { toneDb, WidePhone } from '../../../test/support/wide-phone.ts'
import { AudioRing, createRing, type Found } from '../../lib/audio/audio-ring.ts'
import type { Encoding, Rate } from '../codecs/codecs.ts'
import type { Tap, Wiring } from '../wiring.ts'

interface Taken {
  readonly found: Found
  readonly samples: Int16Array
}

/** A thread that reads a tap at its rate. */
class Listener {
  readonly tap: Tap
  readonly taken: Taken[] = []
  readonly #ring: AudioRing
  readonly #channels: number

  constructor(of: Tap['of'], rate: Rate = 16_000) {
    this.#channels = of === 'stereo' ? 2 : 1
    const ring = createRing({ samples: (this.#channels * rate) / 50, frames: 1000 })
    this.tap = { id: `${of}-${rate}`, of, rate, ring }
    this.#ring = new AudioRing(ring.memory)
  }

  /** Returns all frames that it was given. */
  read(): Taken[] {
    for (;;) {
      const samples = new Int16Array(this.#ring.frameSamples)
      const found = this.#ring.read(samples)
      if (found === undefined) return this.taken
      this.taken.push({ found, samples })
    }
  }

  /** Returns one channel from a time on. Narrow frames have each sample twice. */
  audio(fromMs = 0, channel = 0): Audio {
    const frames = this.read().slice(fromMs / 20)
    const whole = this.#ring.frameSamples / this.#channels
    const samples = frames.flatMap(({ found, samples: all }) =>
      Array.from({ length: whole }, (_, at) => {
        const index = found === 'half' ? at >> 1 : at
        return (all[index * this.#channels + channel] ?? 0) / 32_768
      }),
    )
    return { sampleRate: whole * 50, samples: Float64Array.from(samples) }
  }
}

interface Stage {
  readonly legs: VirtualLegs
  readonly caller: WidePhone
  readonly called: WidePhone
  /** Replaces the former taps. */
  tap(...listeners: readonly Listener[]): void
}

async function bridged(caller: Encoding, called: Encoding, isAgreed = true): Promise<Stage> {
  const legs = new VirtualLegs()
  await legs.coders.prepare(['OPUS'])
  const stage = {
    legs,
    caller: new WidePhone(legs, 'caller', caller, isAgreed),
    called: new WidePhone(legs, 'called', called),
  }
  await setImmediate()
  const hears = (phone: WidePhone): Wiring['hears'] => [
    { id: 'far', from: { kind: 'session', id: phone.leg.stream.id } },
  ]
  const tap = (...listeners: readonly Listener[]): void =>
    stage.caller.leg.wire({ hears: hears(stage.called), taps: listeners.map(({ tap: one }) => one) })
  stage.called.leg.wire({ hears: hears(stage.caller) })
  tap()
  return { ...stage, tap }
}

/** Both speak at the same time for this long. */
async function speak(
  { legs, caller, called }: Stage,
  ms: number,
  hz: readonly [number, number] = [6000, 5000],
  before = (_ms: number): void => undefined,
): Promise<void> {
  const [one, other] = await Promise.all([caller.speech(sine(hz[0]), ms), called.speech(sine(hz[1]), ms)])
  for (const [at, payload] of one.entries()) {
    before(at * 20)
    caller.sendNext(payload)
    const back = other[at]
    if (back !== undefined) called.sendNext(back)
    await setImmediate()
    legs.run(20)
  }
}

/** The loss allowed for a tone. */
const lossDb = { G722: 1, OPUS: 3 } as const

describe.each(['G722', 'OPUS'] as const)('of %s, a tone of 6 kHz', (encoding) => {
  it('is in a tap at 16 kHz at its level, and neither it nor its alias is in one at 8 kHz', async () => {
    const stage = await bridged(encoding, encoding)
    const [wide, narrow] = [new Listener('in'), new Listener('in', 8000)]
    stage.tap(wide, narrow)
    await speak(stage, 2000)
    expect(Math.abs(toneDb(wide.audio(700), 6000))).toBeLessThan(lossDb[encoding])
    expect(levelDb(narrow.audio(700))).toBeLessThan(-40)
  })

  it('is in no tap if all taps are at 8 kHz', async () => {
    const stage = await bridged(encoding, encoding)
    const narrow = new Listener('in', 8000)
    stage.tap(narrow)
    await speak(stage, 2000)
    expect(levelDb(narrow.audio(700))).toBeLessThan(-40)
  })

  it.each(['G722', 'OPUS'] as const)(
    'is there with what a called side of %s says, in one channel and in two',
    async (other) => {
      const stage = await bridged(encoding, other)
      const [mixed, stereo, out] = [new Listener('mixed'), new Listener('stereo'), new Listener('out')]
      stage.tap(mixed, stereo, out)
      await speak(stage, 2000)
      // Sound that is coded twice loses a part at each coding.
      const heardDb = encoding === other ? lossDb[other] : lossDb.G722 + lossDb.OPUS
      for (const audio of [stereo.audio(700, 0), mixed.audio(700)])
        expect(Math.abs(toneDb(audio, 6000))).toBeLessThan(lossDb[encoding])
      for (const audio of [stereo.audio(700, 1), mixed.audio(700), out.audio(700)])
        expect(Math.abs(toneDb(audio, 5000))).toBeLessThan(heardDb)
      expect(longestGapMs(mixed.audio(700))).toBe(0)
    },
  )

  it('is there for a tap that was wired before the codec was known', async () => {
    const stage = await bridged(encoding, encoding, false)
    const wide = new Listener('in')
    stage.tap(wide)
    stage.legs.run(500)
    expect(wide.read()).toEqual([])
    stage.caller.leg.agree({})
    await speak(stage, 2000)
    expect(Math.abs(toneDb(wide.audio(700), 6000))).toBeLessThan(lossDb[encoding])
  })

  it('is heard wide where the other side is tapped too, at 8 kHz', async () => {
    const stage = await bridged(encoding, encoding)
    const [wide, narrow] = [new Listener('out'), new Listener('in', 8000)]
    stage.tap(wide)
    const hears: Wiring['hears'] = [{ id: 'far', from: { kind: 'session', id: stage.caller.leg.stream.id } }]
    stage.called.leg.wire({ hears, taps: [narrow.tap] })
    await speak(stage, 2000, [1000, 6000])
    expect(Math.abs(toneDb(wide.audio(700), 6000))).toBeLessThan(lossDb[encoding])
    expect(levelDb(narrow.audio(700))).toBeLessThan(-40)
  })

  it('is decoded once for both rates, and the tap at 8 kHz has no gap when the other one comes or goes', async () => {
    const stage = await bridged(encoding, encoding)
    const [narrow, wide] = [new Listener('in', 8000), new Listener('in')]
    const decoders = vi.spyOn(stage.legs.coders, 'decoder')
    await speak(stage, 3000, [1000, 1000], (ms) => {
      if (ms === 0 || ms === 2000) stage.tap(narrow)
      if (ms === 1000) stage.tap(narrow, wide)
    })
    expect(longestGapMs(narrow.audio(300))).toBe(0)
    for (const fromMs of [300, 1100, 2100]) {
      const audio = slice(narrow.audio(), fromMs, fromMs + 700)
      expect(toneShare(audio, 1000)).toBeGreaterThan(0.99)
      expect(Math.abs(levelDb(audio))).toBeLessThan(1)
    }
    // Decoders differ by 2 ms in their delay: one joint at each change.
    expect(clicks(narrow.audio(300), 1000).length).toBeLessThanOrEqual(4)
    expect(Math.abs(toneDb(wide.audio(), 1000))).toBeLessThan(1)
    // Each ends when the next one takes over: one for the taps, one for the voice that others hear.
    expect(decoders.mock.calls.filter(([, rate]) => rate === 8000).length).toBe(2)
  })
})

describe('of G.711, a tap at 16 kHz', () => {
  it('is given frames at 8 kHz, and nothing is decoded or converted for it that one at 8 kHz does not need', async () => {
    const stage = await bridged('PCMU', 'PCMU')
    const [wide, stereo] = [new Listener('mixed'), new Listener('stereo')]
    stage.tap(wide, stereo)
    await speak(stage, 1000, [1000, 2000])
    const found = new Set([...wide.read(), ...stereo.read()].slice(20, 45).map((taken) => taken.found))
    expect(found).toEqual(new Set(['half']))
    const samples = wide.taken.slice(20, 45).flatMap((taken) => [...taken.samples.subarray(0, 160)])
    const audio = { sampleRate: 8000, samples: Float64Array.from(samples, (sample) => sample / 32_768) }
    expect(Math.abs(toneDb(audio, 1000))).toBeLessThan(0.2)
    expect(Math.abs(toneDb(audio, 2000))).toBeLessThan(0.2)
  })
})

describe('when the codec changes in the middle of a call', () => {
  it.each([
    ['PCMU', 'G722'],
    ['G722', 'PCMU'],
    ['G722', 'OPUS'],
  ] as const)(
    'from %s to %s, there is no gap of more than 40 ms, and the band is that of each',
    async (one, other) => {
      const stage = await bridged(one, 'PCMU')
      const wide = new Listener('in')
      stage.tap(wide)
      const both = (seconds: number): number => sine(1000, 0.25)(seconds) + sine(6000, 0.25)(seconds)
      const say = (ms: number) => stage.caller.say(both, ms, () => false, 0)
      await say(1000)
      stage.caller.change(other)
      await say(1500)
      expect(longestGapMs(wide.audio(300))).toBeLessThanOrEqual(40)
      const last = wide.audio(1700)
      expect(Math.abs(toneDb(last, 1000) + 6)).toBeLessThan(1)
      const found = new Set(wide.taken.slice(-20).map((taken) => taken.found))
      expect(found).toEqual(new Set([other === 'PCMU' ? 'half' : 'sound']))
      if (other !== 'PCMU') expect(Math.abs(toneDb(last, 6000) + 6)).toBeLessThan(lossDb[other])
    },
  )
})

describe('what another thread says', () => {
  /** Speaks as another thread: writes a frame per tick, at the requested rate. */
  async function said(encoding: Encoding, changes?: Encoding): Promise<{ heard: Audio; wanted: boolean[] }> {
    const legs = new VirtualLegs()
    await legs.coders.prepare(['OPUS'])
    const phone = new WidePhone(legs, 'phone', encoding)
    await setImmediate()
    const ring = createRing({ samples: 320 })
    const writer = new AudioRing(ring.memory)
    phone.leg.wire({ hears: [{ id: 'app', from: { kind: 'ring', ring } }] })
    const wanted: boolean[] = []
    for (let frame = 0; frame < 100; frame += 1) {
      if (frame === 50 && changes !== undefined) phone.change(changes)
      if (frame % 50 === 49) wanted.push(writer.isWholeWanted)
      const rate = writer.isWholeWanted ? 16_000 : 8000
      const hz = rate === 16_000 ? 6000 : 1000
      writer.write(
        Int16Array.from({ length: rate / 50 }, (_, at) =>
          Math.round(sine(hz)((frame * (rate / 50) + at) / rate) * 32_767),
        ),
      )
      await setImmediate()
      legs.run(20)
    }
    return { heard: await phone.heard(changes === undefined ? 700 : 1500), wanted }
  }

  it.each(['G722', 'OPUS'] as const)(
    'is heard by a far end of %s with the band of its frames',
    async (encoding) => {
      const { heard, wanted } = await said(encoding)
      expect(Math.abs(toneDb(heard, 6000))).toBeLessThan(lossDb[encoding])
      expect(wanted).toEqual([true, true])
    },
  )

  it('is asked for at 8 kHz by a far end of G.711, and at 16 kHz once that has another codec', async () => {
    const narrow = await said('PCMU')
    expect(narrow.wanted).toEqual([false, false])
    expect(Math.abs(toneDb(narrow.heard, 1000))).toBeLessThan(0.2)
    const changed = await said('PCMU', 'G722')
    expect(changed.wanted).toEqual([false, true])
    expect(Math.abs(toneDb(changed.heard, 6000))).toBeLessThan(1)
    expect((await said('G722', 'PCMU')).wanted).toEqual([true, false])
  })
})
