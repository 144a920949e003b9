// The audio that taps give of a session: sides, alignment, losses. Taps do not change what the far ends hear.
import { describe, expect, it, vi } from 'vitest'
import { slice, toneShare, type Audio } from '../../../test/support/audio.ts'
import {
  bridge,
  clicks,
  levelDb,
  longestGapMs,
  sine,
  VirtualLegs,
  type HeardPacket,
  type LegOptions,
  type VirtualPhone,
} from '../../../test/support/virtual-legs.ts'
import { AudioRing, createRing, type Ring } from '../../lib/audio/audio-ring.ts'
import type { Tap, Wiring } from '../wiring.ts'

/** A thread that reads a tap in its own ticks; in virtual time it reads immediately. */
class Listener {
  readonly tap: Tap
  readonly ring: AudioRing
  readonly #into: Int16Array
  readonly #read: number[] = []
  silences = 0

  constructor(of: Tap['of'], frames = 50) {
    const ring = createRing({ samples: of === 'stereo' ? 320 : 160, frames })
    this.tap = { id: `tap-${of}`, of, ring }
    this.ring = new AudioRing(ring.memory)
    this.#into = new Int16Array(this.ring.frameSamples)
  }

  drain(): void {
    for (let found = this.ring.read(this.#into); found !== undefined; found = this.ring.read(this.#into)) {
      if (found === 'silence') this.silences += 1
      this.#read.push(...this.#into)
    }
  }

  /** Returns the audio of one channel from a time on. */
  audio(channel = 0, fromMs = 0): Audio {
    const channels = this.tap.of === 'stereo' ? 2 : 1
    const samples = this.#read.filter((_, at) => at % channels === channel)
    const sampleRate = 8000
    return {
      sampleRate,
      samples: Float64Array.from(samples.slice(fromMs * 8), (sample) => sample / 32_768),
    }
  }
}

const hears = (phone: VirtualPhone): Wiring['hears'] => [
  { id: 'far', from: { kind: 'session', id: phone.stream.id } },
]

interface Talk {
  readonly legs: VirtualLegs
  readonly caller: VirtualPhone
  readonly called: VirtualPhone
}

function talk(caller: LegOptions = {}, called: LegOptions = {}): Talk {
  const legs = new VirtualLegs()
  const talk = { legs, caller: legs.leg('caller', caller), called: legs.leg('called', called) }
  bridge(talk.caller, talk.called)
  return talk
}

function run(legs: VirtualLegs, ms: number, ...listeners: readonly Listener[]): void {
  for (let at = 0; at < ms; at += 20) {
    legs.run(20)
    for (const listener of listeners) listener.drain()
  }
}

const tapped = (talk: Talk, listeners: readonly Listener[], rest: Partial<Wiring> = {}): void =>
  talk.caller.wire({ hears: hears(talk.called), taps: listeners.map(({ tap }) => tap), ...rest })

describe('taps of a bridged session', () => {
  it.each([
    ['that passes packets on', {}],
    ['that codes for the other side', { law: 'PCMA' } as const],
  ])('give both sides, each by itself, together, and in two channels, of one %s', (_what, called) => {
    const pair = talk({}, called)
    const [said, heard, mixed, stereo] = (['in', 'out', 'mixed', 'stereo'] as const).map(
      (of) => new Listener(of),
    ) as [Listener, Listener, Listener, Listener]
    tapped(pair, [said, heard, mixed, stereo])
    pair.caller.speak({ sound: sine(440) })
    pair.called.speak({ sound: sine(700) })
    run(pair.legs, 3000, said, heard, mixed, stereo)
    for (const [audio, hz] of [
      [said.audio(0, 500), 440],
      [heard.audio(0, 500), 700],
      [stereo.audio(0, 500), 440],
      [stereo.audio(1, 500), 700],
    ] as const) {
      expect(audio.samples).toHaveLength(2500 * 8)
      expect(Math.abs(levelDb(audio))).toBeLessThan(0.1)
      expect(toneShare(audio, hz)).toBeGreaterThan(0.999)
      expect(clicks(audio, hz)).toEqual([])
    }
    const both = mixed.audio(0, 500)
    expect(toneShare(both, 440)).toBeCloseTo(0.5, 1)
    expect(toneShare(both, 700)).toBeCloseTo(0.5, 1)
  })

  it('have both channels of one moment within 20 ms of each other', () => {
    const pair = talk()
    const stereo = new Listener('stereo')
    tapped(pair, [stereo])
    // Both say a word of 200 ms at the same moment, each second.
    const word =
      (hz: number) =>
      (seconds: number): number =>
        seconds % 1 > 0.5 && seconds % 1 < 0.7 ? sine(hz)(seconds) : 0
    pair.caller.speak({ sound: word(440) })
    pair.called.speak({ sound: word(700) })
    run(pair.legs, 5000, stereo)
    const beginning = (channel: number): number =>
      stereo.audio(channel, 2000).samples.findIndex((sample) => Math.abs(sample) > 0.1) / 8
    expect(beginning(0)).toBeGreaterThan(0)
    expect(Math.abs(beginning(0) - beginning(1))).toBeLessThanOrEqual(20)
  })

  it('have each voice decoded once where both sessions are tapped, and go on when the other one no longer is', () => {
    const pair = talk()
    const decoded = vi.spyOn(pair.legs.coders.decoder('PCMU'), 'decode')
    const [one, other] = [new Listener('stereo'), new Listener('stereo')]
    const tapOther = (...taps: Tap[]): void => pair.called.wire({ hears: hears(pair.caller), taps })
    tapped(pair, [one])
    tapOther(other.tap)
    pair.caller.speak({ sound: sine(400) })
    pair.called.speak({ sound: sine(700) })
    run(pair.legs, 1000, one, other)
    decoded.mockClear()
    run(pair.legs, 1000, one, other)
    expect(decoded.mock.calls.length).toBe(2 * 50)
    tapOther()
    run(pair.legs, 1000, one, other)
    expect(toneShare(one.audio(0, 500), 400)).toBeGreaterThan(0.999)
    expect(toneShare(one.audio(1, 500), 700)).toBeGreaterThan(0.99)
    expect(toneShare(other.audio(0, 500), 700)).toBeGreaterThan(0.999)
    expect(toneShare(other.audio(1, 500), 400)).toBeGreaterThan(0.999)
    expect([longestGapMs(one.audio(0, 500)), longestGapMs(one.audio(1, 500))]).toEqual([0, 0])
    // From then on it decodes for itself.
    decoded.mockClear()
    run(pair.legs, 1000, one, other)
    expect(decoded.mock.calls.length).toBe(2 * 50)
  })

  it('have the gaps of the network concealed', () => {
    const pair = talk()
    const stereo = new Listener('stereo')
    tapped(pair, [stereo])
    const delayMs = (packet: number): number | undefined => (packet % 20 === 7 ? undefined : 0)
    pair.caller.speak({ sound: sine(400), delayMs })
    pair.called.speak({ sound: sine(400), delayMs })
    run(pair.legs, 4000, stereo)
    for (const channel of [0, 1]) {
      expect(longestGapMs(stereo.audio(channel, 500))).toBe(0)
      expect(toneShare(stereo.audio(channel, 500), 400)).toBeGreaterThan(0.98)
    }
  })

  it('give silence while no one says anything, and while it is muted', () => {
    const pair = talk()
    const [said, stereo] = [new Listener('in'), new Listener('stereo')]
    tapped(pair, [said, stereo])
    run(pair.legs, 1000, said, stereo)
    expect([said.silences, stereo.silences]).toEqual([50, 50])
    pair.caller.speak({ sound: sine(440) })
    tapped(pair, [said, stereo], { isMuted: true })
    run(pair.legs, 1000, said, stereo)
    expect(said.audio(0, 1000).samples.every((sample) => sample === 0)).toBe(true)
    expect(stereo.audio(0, 1000).samples.every((sample) => sample === 0)).toBe(true)
  })
})

describe('what those who talk hear', () => {
  const spoken = { sound: sine(440), delayMs: (packet: number) => (packet % 30 === 9 ? 15 : 0) }

  /** Returns all packets that both far ends get in three seconds, while taps come and go. */
  function heardWith(of: Tap['of'] | undefined): readonly HeardPacket[] {
    const pair = talk()
    pair.caller.speak(spoken)
    pair.called.speak(spoken)
    const listeners = of === undefined ? [] : [new Listener(of)]
    run(pair.legs, 1000)
    tapped(pair, listeners)
    run(pair.legs, 1000, ...listeners)
    tapped(pair, [])
    run(pair.legs, 1000)
    return [...pair.called.heard, ...pair.caller.heard]
  }

  const plain = (packets: readonly HeardPacket[]): unknown[] =>
    packets.map(({ atMs, payload, marker }) => [atMs, payload.toString('base64'), marker])

  it.each(['in', 'out', 'mixed', 'stereo'] as const)(
    'is the same, octet for octet, with a tap of %s',
    (of) => {
      expect(plain(heardWith(of))).toEqual(plain(heardWith(undefined)))
    },
  )

  it.each(['in', 'stereo'] as const)(
    'has no more joints when something is said between, with a tap of %s',
    (of) => {
      const heard = (listeners: readonly Listener[]): Audio => {
        const pair = talk()
        pair.called.speak({ sound: sine(400) })
        pair.caller.speak({ sound: sine(400) })
        pair.caller.wire({ hears: hears(pair.called) })
        run(pair.legs, 1000)
        tapped(pair, listeners)
        run(pair.legs, 500, ...listeners)
        // A gain takes the pair off the short way, and its removal restores it.
        tapped(pair, listeners, { hearsGainDb: 3 })
        run(pair.legs, 500, ...listeners)
        tapped(pair, listeners)
        run(pair.legs, 1000, ...listeners)
        return pair.caller.audio(500)
      }
      const without = heard([])
      expect(clicks(without, 400)).toEqual([])
      expect([...heard([new Listener(of)]).samples]).toEqual([...without.samples])
    },
  )

  it('is the same when a tap is no longer read: only the tap loses frames, and each is counted', () => {
    const pair = talk()
    const stalled = new Listener('stereo', 16)
    tapped(pair, [stalled])
    pair.caller.speak({ sound: sine(440) })
    pair.called.speak({ sound: sine(700) })
    pair.legs.run(4000)
    expect([stalled.ring.length, stalled.ring.lost]).toEqual([16, 200 - 16])
    expect(clicks(pair.called.audio(500), 440)).toEqual([])
    expect(clicks(pair.caller.audio(500), 700)).toEqual([])
    // It continues with the frames that are waiting, and with new ones.
    stalled.drain()
    run(pair.legs, 1000, stalled)
    expect(stalled.ring.lost).toBe(200 - 16)
    expect(stalled.audio().samples).toHaveLength((16 + 50) * 160)
  })
})

describe('a tap of what is heard', () => {
  it('goes on where packets are no longer passed on, and where they are again', () => {
    const pair = talk()
    const heard = new Listener('out')
    pair.called.speak({ sound: sine(400) })
    run(pair.legs, 1000)
    tapped(pair, [heard])
    run(pair.legs, 1000, heard)
    tapped(pair, [heard], { hearsGainDb: 0.5 })
    run(pair.legs, 1000, heard)
    tapped(pair, [heard])
    run(pair.legs, 1000, heard)
    const audio = heard.audio(0, 100)
    expect(longestGapMs(audio)).toBe(0)
    expect(clicks(audio, 400, { tolerance: 0.3 }).length).toBeLessThanOrEqual(1)
  })

  it('is silence while the far end is on hold', () => {
    const pair = talk()
    const heard = new Listener('out')
    tapped(pair, [heard])
    pair.called.speak({ sound: sine(400) })
    run(pair.legs, 500, heard)
    pair.caller.agree({ maySend: false })
    run(pair.legs, 1000, heard)
    expect(slice(heard.audio(), 700, 1500).samples.every((sample) => sample === 0)).toBe(true)
  })
})

describe('a layer of what another thread writes', () => {
  const write = (ring: Ring, frame: number, hz = 400): void => {
    const samples = Int16Array.from({ length: 160 }, (_, at) =>
      Math.round(sine(hz)((frame * 160 + at) / 8000) * 32_767),
    )
    new AudioRing(ring.memory).write(samples)
  }

  function withRing(): Talk & { ring: Ring } {
    const pair = talk()
    const ring = createRing({ samples: 160, frames: 16 })
    const app = { id: 'app', from: { kind: 'ring', ring } } as const
    pair.caller.wire({ hears: [...hears(pair.called), app] })
    return { ...pair, ring }
  }

  it('is heard, beside who else speaks', () => {
    const { legs, caller, called, ring } = withRing()
    called.speak({ sound: sine(1000, 0.3) })
    for (let frame = 0; frame < 100; frame += 1) {
      write(ring, frame)
      legs.run(20)
    }
    const audio = slice(caller.audio(0), 500, 1900)
    expect(longestGapMs(audio)).toBe(0)
    expect(toneShare(audio, 400)).toBeGreaterThan(0.6)
    expect(toneShare(audio, 1000)).toBeGreaterThan(0.2)
  })

  it('leaves a bridge on its short way while nothing is written', () => {
    const { legs, caller, called, ring } = withRing()
    called.speak({ sound: sine(400) })
    legs.run(2000)
    // Packets come at 0, 20, 40 ms; ticks are at 7, 27, 47.
    expect(caller.between(1000).every(({ atMs }) => atMs % 20 === 0)).toBe(true)
    for (let frame = 0; frame < 25; frame += 1) {
      write(ring, frame, 700)
      legs.run(20)
    }
    expect(caller.between(2200, 2500).every(({ atMs }) => atMs % 20 === 7)).toBe(true)
    expect(toneShare(slice(caller.audio(2200), 0, 250), 700)).toBeGreaterThan(0.4)
    legs.run(1000)
    expect(caller.between(3000).every(({ atMs }) => atMs % 20 === 0)).toBe(true)
  })

  it('ends without concealed sound if zeros come before the pause', () => {
    const legs = new VirtualLegs()
    const phone = legs.leg('phone')
    const ring = createRing({ samples: 160 })
    phone.wire({ hears: [{ id: 'app', from: { kind: 'ring', ring } }] })
    for (let frame = 0; frame < 20; frame += 1) {
      write(ring, frame)
      legs.run(20)
    }
    new AudioRing(ring.memory).write(new Int16Array(160))
    legs.run(500)
    const audio = phone.audio(0)
    const loud = audio.samples.findLastIndex((sample) => Math.abs(sample) > 0.05)
    const first = audio.samples.findIndex((sample) => Math.abs(sample) > 0.01)
    expect((loud - first) / 8).toBeLessThan(20 * 20 + 8)
  })
})
