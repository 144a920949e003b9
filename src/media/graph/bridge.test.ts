// Two far ends that hear each other: packets passed on as they come, or sent in ticks, and every change between the
// two.
import { describe, expect, it } from 'vitest'
import { slice, toneShare } from '../../../test/support/audio.ts'
import { createRandom } from '../../../test/support/random.ts'
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

interface Bridged {
  readonly legs: VirtualLegs
  readonly caller: VirtualPhone
  readonly called: VirtualPhone
}

function bridged(caller: LegOptions = {}, called: LegOptions = {}): Bridged {
  const legs = new VirtualLegs()
  const all = { legs, caller: legs.leg('caller', caller), called: legs.leg('called', called) }
  bridge(all.caller, all.called)
  return all
}

/** Expects one continuous stream for the listener, whatever its sources. */
function expectOneStream(packets: readonly HeardPacket[]): void {
  const [first] = packets
  expect(new Set(packets.map(({ ssrc }) => ssrc)).size).toBe(1)
  for (const [index, packet] of packets.entries()) {
    const former = packets[index - 1]
    if (former === undefined) continue
    expect((packet.sequence - (first?.sequence ?? 0)) & 0xffff).toBe(index)
    expect((packet.timestamp - former.timestamp) >>> 0).toBe(160)
  }
}

describe('a bridge of one codec', () => {
  it('passes packets on at the moment in which they come, unchanged, both ways', () => {
    const { legs, caller, called } = bridged()
    caller.speak({ sound: sine(440) })
    called.speak({ sound: sine(700) })
    legs.run(2000)
    for (const [phone, hz] of [
      [called, 440],
      [caller, 700],
    ] as const) {
      // Phones send at 0, 20, 40 ms; ticks are at 7, 27, 47.
      expect(phone.between(1000).every(({ atMs }) => atMs % 20 === 0)).toBe(true)
      const audio = phone.audio(1000)
      expect(Math.abs(levelDb(audio))).toBeLessThan(0.1)
      expect(toneShare(audio, hz)).toBeGreaterThan(0.999)
      expect(clicks(phone.audio(300), hz)).toEqual([])
    }
  })

  it('begins in ticks and changes to passing packets on without a gap in numbers and timestamps', () => {
    const { legs, caller, called } = bridged()
    caller.speak({ sound: sine(440) })
    legs.run(2000)
    expect(called.between(0, 60).some(({ atMs }) => atMs % 20 === 7)).toBe(true)
    expectOneStream(called.between(0))
    expect(called.between(0).filter(({ marker }) => marker)).toHaveLength(1)
  })

  it('uses the payload type and the source of each side, not those of the other', () => {
    const { legs, caller, called } = bridged(
      {},
      {
        agreement: { send: { audio: 96, event: { payloadType: 100, clockRate: 8000 }, packetMs: 20 } },
      },
    )
    caller.speak({ sound: sine(440) })
    called.speak({ sound: sine(440) })
    legs.run(1000)
    expect(new Set(called.between(500).map(({ payloadType }) => payloadType))).toEqual(new Set([96]))
    expect(called.heard.some(({ ssrc }) => ssrc === caller.ssrc)).toBe(false)
    expect(new Set(caller.between(500).map(({ payloadType }) => payloadType))).toEqual(new Set([0]))
  })

  it('leaves loss and reordering of the network to the far end, by number and timestamp', () => {
    const { legs, caller, called } = bridged()
    caller.speak({
      sound: sine(440),
      delayMs: (packet) => (packet === 80 ? undefined : packet === 90 ? 25 : 0),
    })
    legs.run(3000)
    const packets = called.between(1000)
    const sorted = packets.toSorted((a, b) => (a.timestamp - b.timestamp) | 0)
    expect(packets).not.toEqual(sorted)
    expect(sorted).toHaveLength(99)
    const [first] = sorted
    for (const { sequence, timestamp } of sorted)
      expect(((sequence - (first?.sequence ?? 0)) & 0xffff) * 160).toBe(
        (timestamp - (first?.timestamp ?? 0)) >>> 0,
      )
    expect(clicks(slice(called.audio(1000), 0, 550), 440)).toEqual([])
  })

  it('goes on in our numbers when the source or its clock changes', () => {
    const { legs, caller, called } = bridged()
    caller.speak({ sound: sine(440) })
    legs.run(1000)
    caller.ssrc = 4711
    caller.sequence = 30
    caller.timestamp = 12
    legs.run(1000)
    expect(new Set(called.heard.map(({ ssrc }) => ssrc)).size).toBe(1)
    const packets = called.between(0)
    for (const [index, { sequence, timestamp }] of packets.entries()) {
      const former = packets[index - 1]
      if (former === undefined) continue
      expect((sequence - former.sequence) & 0xffff).toBe(1)
      expect((timestamp - former.timestamp) >>> 0).toBeLessThanOrEqual(4 * 160)
    }
    expect(longestGapMs(called.audio(500))).toBeLessThanOrEqual(40)
  })

  it('passes a key on with its packets, in the number that the far end has for it', () => {
    const { legs, caller, called } = bridged(
      {},
      {
        agreement: { send: { audio: 0, event: { payloadType: 97, clockRate: 8000 }, packetMs: 20 } },
      },
    )
    caller.speak({ sound: sine(440) })
    legs.run(1000)
    caller.speak(undefined)
    caller.press(5, 5)
    caller.speak({ sound: sine(440) })
    legs.run(500)
    const keys = called.heard.filter(({ payloadType }) => payloadType === 97)
    expect(keys.map(({ payload }) => payload.readUInt16BE(2))).toEqual([160, 320, 480, 640, 800, 800, 800])
    expect(new Set(keys.map(({ timestamp }) => timestamp)).size).toBe(1)
    expect(keys.map(({ marker }) => marker)).toEqual([true, false, false, false, false, false, false])
    expect(caller.events).toContainEqual({ type: 'digit', digit: '5', durationMs: 100 })
    const numbers = called.heard.map(({ sequence }) => sequence)
    expect(new Set(numbers).size).toBe(numbers.length)
  })

  it('leaves no hole in the numbers for keys that the far end does not take', () => {
    const { legs, caller, called } = bridged(
      {},
      {
        agreement: { send: { audio: 0, event: undefined, packetMs: 20 } },
      },
    )
    caller.speak({ sound: sine(440) })
    legs.run(1000)
    caller.press(5, 5)
    legs.run(500)
    const packets = called.heard
    expect(packets.every(({ payloadType }) => payloadType === 0)).toBe(true)
    for (const [index, { sequence }] of packets.entries())
      if (index > 0) expect((sequence - (packets[index - 1]?.sequence ?? 0)) & 0xffff).toBe(1)
  })

  it('sends silence in ticks while the partner sends nothing, and continues the same stream when it sends again', () => {
    const { legs, caller, called } = bridged()
    legs.run(500)
    expect(called.between(0)).toHaveLength(25)
    expect(called.between(0).every(({ payload }) => payload.every((octet) => octet === 0xff))).toBe(true)
    caller.speak({ sound: sine(440) })
    legs.run(1000)
    caller.speak(undefined)
    legs.run(1000)
    // Within 200 ms, since the network itself may stall that long.
    expect(called.between(1720)).toHaveLength(39)
    caller.speak({ sound: sine(440) })
    legs.run(1000)
    const packets = called.between(0)
    expect(new Set(packets.map(({ ssrc }) => ssrc)).size).toBe(1)
    for (const [index, { sequence, timestamp }] of packets.entries()) {
      const former = packets[index - 1]
      if (former === undefined) continue
      expect((sequence - former.sequence) & 0xffff).toBe(1)
      expect((timestamp - former.timestamp) | 0).toBeGreaterThan(0)
    }
    // Timestamps have followed the time: 3.5 s, to the accuracy of a packet.
    const passed = ((packets.at(-1)?.timestamp ?? 0) - (packets[0]?.timestamp ?? 0)) >>> 0
    expect(Math.abs(passed / 8 - 3480)).toBeLessThan(80)
  })

  it('sends nothing to one that holds, and goes on when it resumes', () => {
    const { legs, caller, called } = bridged()
    caller.speak({ sound: sine(440) })
    legs.run(1000)
    called.agree({ maySend: false })
    legs.run(500)
    expect(called.between(1010)).toEqual([])
    called.agree({})
    legs.run(500)
    expect(called.between(1600).length).toBeGreaterThan(18)
    expect(toneShare(called.audio(1600), 440)).toBeGreaterThan(0.99)
    // Time has passed meanwhile, as the marker shows.
    const [before, after] = [called.between(0, 1010).at(-1), called.between(1010)[0]]
    const passedMs = (after?.atMs ?? 0) - (before?.atMs ?? 0)
    const countedMs = (((after?.timestamp ?? 0) - (before?.timestamp ?? 0)) >>> 0) / 8
    expect(Math.abs(countedMs - passedMs)).toBeLessThan(60)
    expect([after?.marker, ((after?.sequence ?? 0) - (before?.sequence ?? 0)) & 0xffff]).toEqual([true, 1])
  })

  it('changes to sending in ticks when the partner changes its codec, and both are heard', () => {
    const { legs, caller, called } = bridged()
    caller.speak({ sound: sine(440) })
    legs.run(1000)
    caller.law = 'PCMA'
    legs.run(1000)
    expect(called.between(1200).every(({ payloadType, atMs }) => payloadType === 0 && atMs % 20 === 7)).toBe(
      true,
    )
    const audio = called.audio(500)
    expect(longestGapMs(audio)).toBeLessThanOrEqual(40)
    expect(toneShare(called.audio(1200), 440)).toBeGreaterThan(0.99)
    caller.law = 'PCMU'
    legs.run(1000)
    expect(called.between(2300).every(({ atMs }) => atMs % 20 === 0)).toBe(true)
  })

  it.each([10, 30, 60])(
    'is on the beat for packets of %i ms, which the far end does not have to take',
    (packetMs) => {
      const { legs, caller, called } = bridged()
      caller.speak({ sound: sine(440), packetMs })
      legs.run(2000)
      expect(
        called.between(500).every(({ payload, atMs }) => payload.length === 160 && atMs % 20 === 7),
      ).toBe(true)
      expect(toneShare(called.audio(1000), 440)).toBeGreaterThan(0.99)
    },
  )

  it('sends packets of 10 ms to one that takes no longer ones', () => {
    const { legs, caller, called } = bridged(
      {},
      { agreement: { send: { audio: 0, event: { payloadType: 101, clockRate: 8000 }, packetMs: 10 } } },
    )
    caller.speak({ sound: sine(440) })
    legs.run(1000)
    expect(called.between(500).every(({ payload }) => payload.length === 80)).toBe(true)
    expect(toneShare(called.audio(500), 440)).toBeGreaterThan(0.99)
  })

  it('passes on to several who hear one, each in its own numbers', () => {
    const { legs, caller, called } = bridged()
    const third = legs.leg('third')
    third.wire({ hears: [{ id: 'far', from: { kind: 'session', id: 'caller' } }] })
    caller.speak({ sound: sine(440) })
    legs.run(2000)
    for (const phone of [called, third]) {
      expectOneStream(phone.between(0))
      expect(clicks(phone.audio(500), 440)).toEqual([])
    }
    expect(third.heard[0]?.ssrc).not.toBe(called.heard[0]?.ssrc)
  })

  it('ends with the session that is heard: silence in ticks from then on', async () => {
    const { legs, caller, called } = bridged()
    caller.speak({ sound: sine(440) })
    legs.run(1000)
    legs.graph.remove('caller')
    await caller.stream.close()
    caller.speak(undefined)
    legs.run(1000)
    const packets = called.between(1100)
    expect(packets).toHaveLength(45)
    expect(packets.every(({ payload }) => payload.every((octet) => octet === 0xff))).toBe(true)
  })
})

describe('a bridge of two laws', () => {
  it('is sent in ticks at the same level, with keys', () => {
    const { legs, caller, called } = bridged({ law: 'PCMU' }, { law: 'PCMA' })
    caller.speak({ sound: sine(440) })
    called.speak({ sound: sine(700) })
    legs.run(2000)
    for (const [phone, hz] of [
      [called, 440],
      [caller, 700],
    ] as const) {
      const audio = phone.audio(1000)
      expect(Math.abs(levelDb(audio))).toBeLessThan(0.5)
      expect(toneShare(audio, hz)).toBeGreaterThan(0.99)
      expectOneStream(phone.between(0))
    }
    caller.speak(undefined)
    caller.press(11, 6)
    caller.speak({ sound: sine(440) })
    legs.run(500)
    const keys = called.heard.filter(({ payloadType }) => payloadType === 101)
    expect(keys).toHaveLength(8)
    expect(keys.every(({ payload }) => payload[0] === 11)).toBe(true)
    expect(new Set(keys.map(({ timestamp }) => timestamp)).size).toBe(1)
    const [start, end] = [keys[0], keys.at(-1)].map((key) => key?.atMs ?? 0)
    expect(called.between(start ?? 0, end)).toEqual([])
    // Speech waits for the key, while time passes.
    const speech = called.between(0)
    const before = speech.findLast(({ sequence }) => ((sequence - (keys[0]?.sequence ?? 0)) << 16) >> 16 < 0)
    expect(((keys[0]?.timestamp ?? 0) - (before?.timestamp ?? 0)) >>> 0).toBeLessThanOrEqual(320)
    const numbers = called.heard.map(({ sequence }) => sequence)
    expect(
      numbers.every((one, index) => index === 0 || ((one - (numbers[index - 1] ?? 0)) & 0xffff) === 1),
    ).toBe(true)
  })

  it.each([
    [0.05, 30],
    [0.02, 60],
  ])('with %d of the packets lost and %i ms of jitter has no gap over 40 ms', (loss, jitterMs) => {
    const random = createRandom(11)
    const { legs, caller, called } = bridged({ law: 'PCMU' }, { law: 'PCMA' })
    caller.speak({ sound: sine(440), delayMs: () => (random() < loss ? undefined : random() * jitterMs) })
    legs.run(20_000)
    expect(longestGapMs(called.audio(2000))).toBeLessThanOrEqual(40)
    expect(Math.abs(levelDb(called.audio(2000)))).toBeLessThan(1)
  })
})

describe('a change of the wiring', () => {
  const far = { id: 'far', from: { kind: 'session', id: 'caller' } } as const

  it.each<[string, (all: Bridged) => void, (all: Bridged) => void]>([
    ['muting', ({ caller }) => caller.wire({ isMuted: true }), ({ caller }) => caller.wire({})],
    ['a gain', ({ caller }) => caller.wire({ gainDb: -12 }), ({ caller }) => caller.wire({})],
    [
      'a layer that is softer',
      ({ called }) => called.wire({ hears: [{ ...far, gainDb: -12 }] }),
      ({ called }) => called.wire({ hears: [far] }),
    ],
    [
      'taking the bridge away',
      ({ called }) => called.wire({}),
      ({ called }) => called.wire({ hears: [far] }),
    ],
    [
      'a second one who is heard and silent',
      ({ called }) => called.wire({ hears: [far, { id: 'two', from: { kind: 'session', id: 'none' } }] }),
      ({ called }) => called.wire({ hears: [far] }),
    ],
  ])('by %s causes no click and no gap in the numbers, and can be undone', (_what, change, back) => {
    const all = bridged()
    const { legs, caller, called } = all
    caller.speak({ sound: sine(410) })
    legs.run(1013)
    change(all)
    legs.run(500)
    back(all)
    legs.run(1000)
    expectOneStream(called.between(0))
    expect(clicks(called.audio(500), 410, { tolerance: 0.3 })).toEqual([])
    const after = called.between(2000)
    expect(after.every(({ atMs }) => atMs % 20 === 0)).toBe(true)
    expect(Math.abs(levelDb(called.audio(2000)))).toBeLessThan(0.5)
  })

  it('back to the short way loses nothing of what waits in the jitter buffer', () => {
    const random = createRandom(3)
    const { legs, caller, called } = bridged()
    const quiet = { id: 'two', from: { kind: 'session', id: 'none' } } as const
    called.wire({ hears: [far, quiet] })
    caller.speak({ sound: sine(410), delayMs: () => random() * 45 })
    legs.run(5000)
    caller.speak({ sound: sine(410), delayMs: () => 0 })
    legs.run(1000)
    // Two packets are waiting by now, since the network was worse before. None is left out, and none is heard twice.
    const from = legs.nowMs
    called.wire({ hears: [far] })
    legs.run(200)
    const burst = called.between(from, from + 40)
    expect(burst.length).toBeGreaterThan(2)
    expectOneStream(called.between(from - 200))
    expect(clicks(called.audio(from - 200), 410)).toEqual([])
  })

  it('mutes one and not the other', () => {
    const { legs, caller, called } = bridged()
    caller.speak({ sound: sine(400) })
    called.speak({ sound: sine(400) })
    caller.wire({ isMuted: true, hears: [{ id: 'far', from: { kind: 'session', id: 'called' } }] })
    legs.run(1000)
    expect(levelDb(called.audio(500))).toBeLessThan(-60)
    expect(Math.abs(levelDb(caller.audio(500)))).toBeLessThan(0.5)
  })

  it('sends keys of a muted one on: it is its voice that is not heard', () => {
    const { legs, caller, called } = bridged()
    caller.wire({ isMuted: true })
    legs.run(200)
    caller.press(7, 5)
    expect(called.heard.filter(({ payloadType }) => payloadType === 101)).toHaveLength(7)
  })

  it('adds up two who are heard at once', () => {
    const { legs, caller, called } = bridged()
    const third = legs.leg('third')
    called.wire({ hears: [far, { id: 'two', from: { kind: 'session', id: 'third' } }] })
    caller.speak({ sound: sine(400, 0.25) })
    third.speak({ sound: sine(1000, 0.25) })
    legs.run(2000)
    const audio = called.audio(1000)
    expect(toneShare(audio, 400)).toBeCloseTo(0.5, 1)
    expect(toneShare(audio, 1000)).toBeCloseTo(0.5, 1)
    expect(levelDb(audio, 0.25)).toBeCloseTo(3, 0)
  })

  it('clips a loud sum instead of overflowing', () => {
    const { legs, caller, called } = bridged()
    called.wire({ hears: [{ ...far, gainDb: 20 }] })
    caller.speak({ sound: sine(400) })
    legs.run(1000)
    const { samples } = called.audio(500)
    expect(Math.max(...samples)).toBeGreaterThan(0.95)
    expect(laws.PCMU.decode.every((value) => Math.abs(value) < 32_768)).toBe(true)
    // A sample that overflowed would have the opposite sign of its neighbours.
    expect(samples.every((one, at) => at === 0 || Math.abs(one - (samples[at - 1] ?? 0)) < 1.9)).toBe(true)
  })
})
