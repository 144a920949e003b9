// The voice of one phone as another hears it through the jitter buffer, over good and bad networks, in virtual time.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { slice, toneShare } from '../../../test/support/audio.ts'
import { createRandom } from '../../../test/support/random.ts'
import {
  clicks,
  laws,
  levelDb,
  longestGapMs,
  sine,
  VirtualLegs,
  type Speaking,
  type VirtualPhone,
} from '../../../test/support/virtual-legs.ts'
import { collectGarbage } from '../../lib/collect-garbage.ts'
import { createCoders } from '../codecs/coders.ts'
import { Voice } from './voice.ts'

interface Bridged {
  readonly legs: VirtualLegs
  readonly caller: VirtualPhone
  readonly called: VirtualPhone
}

/** One phone hears the other, in another law, so that packets are not passed on undecoded. */
function listening(speaking?: Speaking): Bridged {
  const legs = new VirtualLegs()
  const caller = legs.leg('caller')
  const called = legs.leg('called', { law: 'PCMA' })
  called.wire({ hears: [{ id: 'far', from: { kind: 'session', id: 'caller' } }] })
  caller.speak(speaking)
  return { legs, caller, called }
}

describe('a voice', () => {
  it.each([5, 10, 20, 30, 40, 60, 80, 120, 150])(
    'in packets of %i ms is heard whole, in packets of 20 ms',
    (packetMs) => {
      const { legs, called } = listening({ sound: sine(440), packetMs })
      legs.run(3000)
      const packets = called.between(1000)
      expect(packets.every(({ payload, payloadType }) => payload.length === 160 && payloadType === 8)).toBe(
        true,
      )
      expect(packets).toHaveLength(100)
      const audio = called.audio(1000)
      expect(Math.abs(levelDb(audio))).toBeLessThan(1)
      expect(toneShare(audio, 440)).toBeGreaterThan(0.99)
      expect(clicks(audio, 440)).toEqual([])
    },
  )

  it('is heard at most 40 ms after it was spoken, on a network without jitter', () => {
    const legs = new VirtualLegs()
    const caller = legs.leg('caller')
    const called = legs.leg('called', { law: 'PCMA' })
    called.wire({ hears: [{ id: 'far', from: { kind: 'session', id: 'caller' } }] })
    legs.run(500)
    // Silence, then a tone after two seconds: spoken from 2500 on, in a packet that was complete at 2520.
    caller.speak({ sound: (seconds) => (seconds < 2 ? 0 : sine(440)(seconds)) })
    legs.run(2500)
    const first = called.between(2400).find(({ payload }) => payload.some((octet) => octet !== 0xd5))
    // This phone sends a packet when its first sample is spoken.
    expect((first?.atMs ?? Infinity) - 2500).toBeLessThan(40)
  })

  it.each([
    [10, 0],
    [30, 0],
    [60, 0],
    [30, 0.05],
    [0, 0.05],
  ])('with %i ms of jitter and %d of the packets lost has no gap over 40 ms', (jitterMs, loss) => {
    const random = createRandom(jitterMs + loss * 100)
    const { legs, called } = listening({
      sound: sine(440),
      delayMs: () => (random() < loss ? undefined : random() * jitterMs),
    })
    legs.run(30_000)
    const audio = called.audio(2000)
    expect(longestGapMs(audio)).toBeLessThanOrEqual(40)
    expect(Math.abs(levelDb(audio))).toBeLessThan(1)
    expect(toneShare(audio, 440)).toBeGreaterThan(loss > 0 ? 0.8 : 0.9)
    // Concealed sound fades into received sound.
    expect(clicks(audio, 440, { tolerance: 0.35 }).length).toBeLessThan(10)
  })

  it('is not missed where single packets are lost: what was said before goes on, and joins without a click', () => {
    const { legs, called } = listening({
      sound: sine(400),
      delayMs: (packet) => (packet % 25 === 24 ? undefined : 0),
    })
    legs.run(5000)
    const audio = called.audio(1000)
    expect(longestGapMs(audio)).toBe(0)
    expect(Math.abs(levelDb(audio))).toBeLessThan(0.5)
    expect(clicks(audio, 400)).toEqual([])
  })

  it('fades where many packets are lost, and is silence after 60 ms', () => {
    const { legs, called } = listening({
      sound: sine(400),
      delayMs: (packet) => (packet >= 100 && packet < 150 ? undefined : 0),
    })
    legs.run(4000)
    const gap = called.audio(2000, 3100)
    const quiet = slice(gap, 150, 950)
    expect(Math.max(...quiet.samples.map(Math.abs))).toBeLessThan(0.001)
    expect(clicks(slice(gap, 0, 140), 400)).toEqual([])
    expect(Math.abs(levelDb(called.audio(3200)))).toBeLessThan(0.5)
  })

  it('takes a longer delay from a network that becomes worse, and gives it back when it is good again', () => {
    let jitterMs = 0
    const random = createRandom(5)
    const { legs, caller, called } = listening()
    let spoken = 0
    const heardAfterMs = (): number => {
      // A burst of another pitch, and the time when it is heard.
      const at = legs.nowMs
      caller.speak({
        sound: (seconds) => sine(seconds < 0.4 ? 1000 : 400)(seconds),
        delayMs: () => random() * jitterMs,
      })
      legs.run(1000)
      const packets = called.between(at)
      const first = packets.findIndex((packet) => {
        const audio = { sampleRate: 8000, samples: decoded(packet.payload) }
        return toneShare(audio, 1000) > 0.7 && levelDb(audio) > -6
      })
      spoken += 1
      return (packets[first]?.atMs ?? Infinity) - at
    }
    caller.speak({ sound: sine(400) })
    legs.run(2000)
    const good = heardAfterMs()
    jitterMs = 80
    caller.speak({ sound: sine(400), delayMs: () => random() * jitterMs })
    legs.run(5000)
    const bad = heardAfterMs()
    jitterMs = 0
    caller.speak({ sound: sine(400) })
    legs.run(20_000)
    const goodAgain = heardAfterMs()
    expect(spoken).toBe(3)
    expect(good).toBeLessThan(50)
    expect(bad).toBeGreaterThan(good + 20)
    expect(goodAgain).toBeLessThan(good + 25)
  })

  it('gives its delay back without a click', () => {
    const { legs, called } = listening({
      sound: sine(400),
      // Late once by 100 ms, and in time from then on: all waiting packets are slack.
      delayMs: (packet) => (packet === 50 ? 100 : packet > 50 && packet < 56 ? (56 - packet) * 20 : 0),
    })
    legs.run(12_000)
    expect(clicks(called.audio(2000), 400)).toEqual([])
    expect(toneShare(called.audio(8000), 400)).toBeGreaterThan(0.99)
  })

  it('catches up after a standstill of the network instead of being late for ever', () => {
    const { legs, caller, called } = listening({
      sound: sine(400),
      delayMs: (packet) => Math.max(0, packet < 200 && packet >= 100 ? (200 - packet) * 20 : 0),
    })
    // The packets of two seconds arrive at the same time.
    legs.run(7000)
    caller.speak(undefined)
    legs.run(400)
    const last = called
      .between(7000)
      .findLast(({ payload }) => decoded(payload).some((sample) => Math.abs(sample) > 0.02))
    // Within 180 ms of its end, plus 60 ms in which concealed sound fades.
    expect((last?.atMs ?? Infinity) - 7000).toBeLessThan(250)
  })

  it('goes on when the phone begins to count elsewhere, or with another source', () => {
    const { legs, caller, called } = listening({ sound: sine(400) })
    legs.run(1000)
    caller.timestamp += 4_000_000
    legs.run(1000)
    caller.timestamp -= 3_000_000
    legs.run(1000)
    caller.ssrc = 99
    caller.sequence = 60_000
    legs.run(1000)
    for (const from of [1200, 2200, 3200]) {
      expect(Math.abs(levelDb(called.audio(from, from + 700)))).toBeLessThan(0.5)
      expect(longestGapMs(called.audio(from - 200, from + 700))).toBeLessThanOrEqual(40)
    }
  })

  it('is put in order, and heard once, when packets overtake each other and are repeated', () => {
    const { legs, caller, called } = listening({
      sound: sine(400),
      delayMs: (packet) => (packet % 3 === 0 ? 25 : 0),
    })
    legs.run(1000)
    for (let round = 0; round < 20; round += 1) {
      legs.run(100)
      const { sequence, timestamp } = caller
      caller.send({
        sequence: (sequence - 2) & 0xffff,
        timestamp: timestamp - 320,
        payload: Buffer.alloc(160, 0),
      })
    }
    const audio = called.audio(1000)
    expect(toneShare(audio, 400)).toBeGreaterThan(0.99)
    expect(clicks(audio, 400)).toEqual([])
  })

  it('is muted and unmuted, made louder and softer, without a click', () => {
    const { legs, caller, called } = listening({ sound: sine(400, 0.25) })
    legs.run(2000)
    caller.wire({ isMuted: true })
    legs.run(500)
    caller.wire({ gainDb: 6 })
    legs.run(500)
    caller.wire({ gainDb: -6 })
    legs.run(500)
    caller.wire({})
    legs.run(500)
    expect(clicks(called.audio(1000), 400, { level: 0.25, tolerance: 0.3 })).toEqual([])
    const levels = [2100, 2600, 3100, 3600].map((from) => levelDb(called.audio(from, from + 300), 0.25))
    expect(levels[0]).toBeLessThan(-50)
    expect(levels[1]).toBeCloseTo(6, 0)
    expect(levels[2]).toBeCloseTo(-6, 0)
    expect(levels[3]).toBeCloseTo(0, 0)
  })

  it('that has ended is silence, and comfort noise is none either', () => {
    const { legs, caller, called } = listening({ sound: sine(400) })
    legs.run(1000)
    caller.speak(undefined)
    legs.run(200)
    for (let count = 0; count < 50; count += 1) {
      caller.send({ payloadType: 13, payload: Buffer.from([40]), sequence: (caller.sequence += 1) & 0xffff })
      legs.run(20)
    }
    const packets = called.between(1500)
    expect(packets).toHaveLength(35)
    for (const { payload } of packets) expect(payload).toEqual(Buffer.alloc(160, 0xd5))
  })

  it('keeps none of its packets while they are passed on as they come', async () => {
    const voice = new Voice(createCoders(laws))
    const heard: WeakRef<Buffer>[] = []
    const hear = (sequence: number): number => {
      const payload = Buffer.alloc(160, 0xff)
      heard.push(new WeakRef(payload))
      const packet = { marker: false, payloadType: 0, sequence, timestamp: sequence * 160, ssrc: 1, payload }
      voice.hear(packet, 'PCMU', sequence * 20)
      return sequence * 20
    }
    for (let tick = 0; tick < 20; tick += 1) voice.frame(tick, hear(tick))
    expect(voice.handOver(20 * 20)).toBeDefined()
    for (let tick = 20; tick < 1020; tick += 1) hear(tick)
    // None of them could be sent within one turn of the event loop.
    await nextTurn()
    collectGarbage()
    expect(heard.filter((payload) => payload.deref() !== undefined).length).toBeLessThan(10)
    expect(voice.isRegular('PCMU')).toBe(true)
  })
})

function decoded(payload: Uint8Array): Float64Array {
  return Float64Array.from(payload, (octet) => (laws.PCMA.decode[octet] ?? 0) / 32_768)
}
