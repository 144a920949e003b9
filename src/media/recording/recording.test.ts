// The recording of a session: packets passed on, mixed sound, losses, mutes and clocks; and that it changes nothing
// else.
import { describe, expect, it } from 'vitest'
import { slice, toneShare, type Audio } from '../../../test/support/audio.ts'
import {
  bridge,
  clicks,
  laws,
  levelDb,
  longestGapMs,
  sine,
  VirtualLegs,
  type HeardPacket,
  type LegOptions,
  type VirtualPhone,
} from '../../../test/support/virtual-legs.ts'
import type { Tap, Wiring } from '../wiring.ts'
import { createRecordingRing, RecordingRing } from './recording-ring.ts'
import { RecordingReader } from './recording-reader.ts'

/** Reads all frames ten times a second, as the recorder does. */
class Recorder {
  readonly tap: Tap
  readonly #reader: RecordingReader
  readonly #taken: number[] = []

  constructor(frames = 200) {
    const ring = createRecordingRing(frames)
    this.tap = { id: 'recording', of: 'recording', ring }
    this.#reader = new RecordingReader(ring.memory, laws)
  }

  get lost(): number {
    return this.#reader.lost
  }

  take(isToEnd = false): void {
    const frame = new Int16Array(this.#reader.frameSamples)
    while (this.#reader.read(frame, 0, isToEnd)) this.#taken.push(...frame)
  }

  /** Returns the audio of one side from a time on, including frames not read yet. */
  audio(side: 'in' | 'out', fromMs = 0): Audio {
    this.take(true)
    const channel = side === 'in' ? 0 : 1
    const samples = this.#taken.filter((_, at) => at % 2 === channel).slice(fromMs * 8)
    return { sampleRate: 8000, samples: Float64Array.from(samples, (sample) => sample / 32_768) }
  }
}

interface Talk {
  readonly legs: VirtualLegs
  readonly caller: VirtualPhone
  readonly called: VirtualPhone
  readonly recorder: Recorder
}

const hears = ({ stream }: VirtualPhone): Wiring['hears'] => [
  { id: 'far', from: { kind: 'session', id: stream.id } },
]

function talk(caller: LegOptions = {}, called: LegOptions = {}): Talk {
  const legs = new VirtualLegs()
  const recorder = new Recorder()
  const talk = { legs, recorder, caller: legs.leg('caller', caller), called: legs.leg('called', called) }
  bridge(talk.caller, talk.called)
  return talk
}

function record(talk: Talk, ms: number, wiring: Partial<Wiring> = {}): void {
  talk.caller.wire({ hears: hears(talk.called), taps: [talk.recorder.tap], ...wiring })
  for (let at = 0; at < ms; at += 100) {
    talk.legs.run(100)
    talk.recorder.take()
  }
}

const stateOf = (ring: Tap['ring'], side: 'in' | 'out') => new RecordingRing(ring.memory).kind(side)

describe('a recording of two who are bridged', () => {
  it.each<[string, LegOptions, LegOptions]>([
    ['PCMU passed on', {}, {}],
    ['PCMA passed on', { law: 'PCMA' }, { law: 'PCMA' }],
    ['one law and the other', {}, { law: 'PCMA' }],
  ])('has both sides as loud as they are, without a gap or a click: %s', (_what, caller, called) => {
    const pair = talk(caller, called)
    pair.caller.speak({ sound: sine(440) })
    pair.called.speak({ sound: sine(700) })
    record(pair, 3000)
    for (const [side, hz] of [
      ['in', 440],
      ['out', 700],
    ] as const) {
      const audio = pair.recorder.audio(side, 500)
      expect(audio.samples).toHaveLength(2500 * 8)
      expect(Math.abs(levelDb(audio))).toBeLessThan(0.1)
      expect(toneShare(audio, hz)).toBeGreaterThan(0.999)
      expect(clicks(audio, hz)).toEqual([])
    }
  })

  it('has packets that are passed on as they came: no one decodes them for it', () => {
    const pair = talk()
    pair.caller.speak({ sound: sine(440) })
    pair.called.speak({ sound: sine(700) })
    record(pair, 500)
    pair.legs.run(200)
    expect([stateOf(pair.recorder.tap.ring, 'in'), stateOf(pair.recorder.tap.ring, 'out')]).toEqual([
      'PCMU',
      'PCMU',
    ])
  })

  it.each([10, 30, 60])('has packets of %i ms whole', (packetMs) => {
    const pair = talk()
    pair.caller.speak({ sound: sine(440), packetMs })
    pair.called.speak({ sound: sine(700), packetMs })
    record(pair, 3000)
    for (const [side, hz] of [
      ['in', 440],
      ['out', 700],
    ] as const) {
      const audio = pair.recorder.audio(side, 500)
      expect(longestGapMs(audio)).toBe(0)
      expect(toneShare(audio, hz)).toBeGreaterThan(0.99)
    }
  })

  it('has both sides of one moment within 20 ms of each other', () => {
    const pair = talk()
    // Both say a word of 200 ms at the same moment, each second.
    const word =
      (hz: number) =>
      (seconds: number): number =>
        seconds % 1 > 0.5 && seconds % 1 < 0.7 ? sine(hz)(seconds) : 0
    pair.caller.speak({ sound: word(440) })
    pair.called.speak({ sound: word(700) })
    record(pair, 5000)
    const begins = (side: 'in' | 'out'): number =>
      pair.recorder.audio(side, 2000).samples.findIndex((sample) => Math.abs(sample) > 0.1) / 8
    expect(begins('in')).toBeGreaterThan(0)
    expect(Math.abs(begins('in') - begins('out'))).toBeLessThanOrEqual(20)
  })
})

describe('a recording over a bad network', () => {
  it('has lost packets concealed', () => {
    const pair = talk()
    const delayMs = (packet: number): number | undefined => (packet % 20 === 7 ? undefined : 0)
    pair.caller.speak({ sound: sine(400), delayMs })
    pair.called.speak({ sound: sine(400), delayMs })
    record(pair, 4000)
    for (const side of ['in', 'out'] as const) {
      const audio = pair.recorder.audio(side, 500)
      expect(longestGapMs(audio)).toBe(0)
      expect(toneShare(audio, 400)).toBeGreaterThan(0.98)
      expect(clicks(audio, 400, { tolerance: 0.3 })).toEqual([])
    }
  })

  it('has packets in the order in which they were spoken, up to 80 ms late', () => {
    const pair = talk()
    const delayMs = (packet: number): number => (packet % 5 === 2 ? 80 : (packet * 7) % 20)
    pair.caller.speak({ sound: sine(400), delayMs })
    record(pair, 4000)
    const audio = pair.recorder.audio('in', 500)
    expect(toneShare(audio, 400)).toBeGreaterThan(0.999)
    expect(clicks(audio, 400)).toEqual([])
  })

  it('goes on after a standstill, where it is heard', () => {
    const pair = talk()
    pair.caller.speak({
      sound: sine(400),
      delayMs: (packet) => (packet >= 100 && packet < 125 ? 500 - (packet - 100) * 20 : 0),
    })
    record(pair, 5000)
    const audio = pair.recorder.audio('in', 500)
    expect(longestGapMs(audio)).toBeLessThanOrEqual(500)
    expect(toneShare(slice(audio, 2600, 4400), 400)).toBeGreaterThan(0.999)
    expect(audio.samples).toHaveLength(4500 * 8)
  })

  it.each([
    ['whose clock goes on', 8],
    ['whose clock stands', 0],
  ])('has each word at its time, of a far end that sends nothing in silence, %s', (_what, unitsPerMs) => {
    const pair = talk()
    for (let word = 0; word < 4; word += 1) {
      pair.caller.speak({ sound: sine(400) })
      record(pair, 500)
      pair.caller.speak(undefined)
      record(pair, 500)
      pair.caller.timestamp += 500 * unitsPerMs
    }
    const audio = pair.recorder.audio('in')
    for (let at = 1000; at < 4000; at += 1000) {
      expect(longestGapMs(slice(audio, at + 20, at + 480))).toBe(0)
      expect(longestGapMs(slice(audio, at + 600, at + 980))).toBe(380)
    }
  })

  it('follows a far end whose clock jumps, or that is another one', () => {
    const pair = talk()
    pair.caller.speak({ sound: sine(400) })
    record(pair, 1000)
    pair.caller.timestamp += 1_234_567
    record(pair, 1000)
    pair.caller.ssrc += 1
    pair.caller.timestamp = 77
    record(pair, 1000)
    const audio = pair.recorder.audio('in', 300)
    expect(longestGapMs(audio)).toBeLessThanOrEqual(20)
    expect(toneShare(slice(audio, 1900, 2600), 400)).toBeGreaterThan(0.999)
  })

  it('stays complete with a far end whose clock is a thousandth slower or faster', () => {
    for (const drift of [1, -1]) {
      const pair = talk()
      // For two minutes each packet is a fiftieth of a millisecond later than the one before.
      pair.caller.speak({ sound: sine(400), delayMs: (packet) => 130 + drift * 0.02 * packet })
      record(pair, 120_000)
      const audio = pair.recorder.audio('in', 1000)
      expect(longestGapMs(audio)).toBe(0)
      expect(toneShare(slice(audio, 118_000, 119_000), 400)).toBeGreaterThan(0.99)
    }
  })
})

describe('a recording where what is heard changes', () => {
  it('goes on from packets to what is mixed and back', () => {
    const pair = talk()
    pair.caller.speak({ sound: sine(400) })
    pair.called.speak({ sound: sine(400) })
    for (let change = 0; change < 5; change += 1) {
      record(pair, 1000)
      record(pair, 1000, { hearsGainDb: 0.5 })
    }
    for (const side of ['in', 'out'] as const) {
      const audio = pair.recorder.audio(side, 100)
      expect(audio.samples).toHaveLength(9900 * 8)
      expect(longestGapMs(audio)).toBe(0)
      expect(clicks(audio, 400, { tolerance: 0.3 }).length).toBeLessThanOrEqual(side === 'in' ? 0 : 5)
    }
  })

  it('is silent where no one says anything, and where the far end is muted, and has the other side all the time', () => {
    const pair = talk()
    record(pair, 1000)
    pair.caller.speak({ sound: sine(440) })
    pair.called.speak({ sound: sine(700) })
    record(pair, 1000)
    record(pair, 1000, { isMuted: true })
    record(pair, 1000)
    const said = pair.recorder.audio('in')
    const isSilent = (from: number, to: number) =>
      slice(said, from, to).samples.every((sample) => sample === 0)
    expect([isSilent(0, 1000), isSilent(1200, 1900), isSilent(2100, 2980), isSilent(3100, 3900)]).toEqual([
      true,
      false,
      true,
      false,
    ])
    expect(clicks(said, 440, { tolerance: 0.5 }).length).toBeLessThanOrEqual(2)
    expect(toneShare(slice(pair.recorder.audio('out'), 1300, 3900), 700)).toBeGreaterThan(0.999)
  })

  it('is silent on the side that is held, and after one who has fallen silent', () => {
    const pair = talk()
    pair.caller.speak({ sound: sine(440) })
    pair.called.speak({ sound: sine(700) })
    record(pair, 1000)
    pair.caller.agree({ maySend: false })
    pair.caller.speak(undefined)
    record(pair, 1000)
    for (const side of ['in', 'out'] as const)
      expect(slice(pair.recorder.audio(side), 1200, 1980).samples.every((sample) => sample === 0)).toBe(true)
  })

  it('leaves out what lies between two parts of it', () => {
    const pair = talk()
    pair.caller.speak({ sound: sine(440) })
    record(pair, 1000)
    pair.caller.wire({ hears: hears(pair.called) })
    pair.legs.run(2000)
    record(pair, 1000)
    const said = pair.recorder.audio('in')
    expect(said.samples).toHaveLength(2000 * 8)
    expect(longestGapMs(slice(said, 100, 2000))).toBe(0)
  })
})

describe('what those who talk hear', () => {
  it('is the same, octet for octet, recorded and not', () => {
    const heard = (isRecorded: boolean): unknown[] => {
      const pair = talk()
      const spoken = { sound: sine(440), delayMs: (packet: number) => (packet % 30 === 9 ? 15 : 0) }
      pair.caller.speak(spoken)
      pair.called.speak(spoken)
      pair.legs.run(1000)
      if (isRecorded) record(pair, 1000)
      else pair.legs.run(1000)
      pair.caller.wire({ hears: hears(pair.called) })
      pair.legs.run(1000)
      const plain = ({ atMs, payload, marker }: HeardPacket) => [atMs, payload.toString('base64'), marker]
      return [...pair.called.heard, ...pair.caller.heard].map(plain)
    }
    expect(heard(true)).toEqual(heard(false))
  })

  it('is the same when the recorder has stopped: the recording alone loses frames, and each is counted', () => {
    const pair = talk()
    const recorder = new Recorder(50)
    const stopped = { ...pair, recorder }
    pair.caller.speak({ sound: sine(440) })
    pair.called.speak({ sound: sine(700) })
    pair.caller.wire({ hears: hears(pair.called), taps: [recorder.tap] })
    pair.legs.run(4000)
    const kept = 200 - recorder.lost
    expect(kept).toBeGreaterThan(40)
    expect(kept).toBeLessThan(50)
    expect(clicks(pair.called.audio(500), 440)).toEqual([])
    // It continues with the frames that are waiting, and with new ones.
    recorder.take()
    record(stopped, 1000)
    expect(200 - recorder.lost).toBe(kept)
    expect(recorder.audio('in').samples).toHaveLength((kept + 50) * 160)
    expect(toneShare(slice(recorder.audio('in'), kept * 20 + 200, kept * 20 + 1000), 440)).toBeGreaterThan(
      0.999,
    )
  })
})
