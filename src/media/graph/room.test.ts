// Rooms: each member hears all others and not itself. Also the cost of a room in which most members are silent.
import { describe, expect, it } from 'vitest'
import { slice, toneShare } from '../../../test/support/audio.ts'
import {
  laws,
  levelDb,
  sine,
  VirtualLegs,
  type LegOptions,
  type VirtualPhone,
} from '../../../test/support/virtual-legs.ts'
import { createCoders, type Coders, type Encoder } from '../codecs/coders.ts'
import { SampleFrame } from '../frames/frame.ts'
import { Room } from './room.ts'
import type { SpeaksIn, WorkerWiring } from '../wiring.ts'

const inRoom = (rest: Partial<WorkerWiring> = {}, room = 'meeting'): Partial<WorkerWiring> => ({
  hears: [{ id: 'room', from: { kind: 'room', id: room } }],
  speaksIn: { room },
  ...rest,
})

/** One pitch for each member, with whole periods in a second. */
const pitches = [400, 550, 700, 850, 1000, 1150]

function meeting(members: number, options: LegOptions = {}): { legs: VirtualLegs; phones: VirtualPhone[] } {
  const legs = new VirtualLegs()
  const phones = Array.from({ length: members }, (_, index) => legs.leg(`member ${index}`, options))
  for (const phone of phones) phone.wire(inRoom())
  return { legs, phones }
}

const hears = (phone: VirtualPhone, hz: number, fromMs: number): boolean =>
  toneShare(phone.audio(fromMs), hz) > 0.05

describe('in a room', () => {
  it('each hears all others as loud as they are, and not itself', () => {
    const { legs, phones } = meeting(4)
    for (const [index, phone] of phones.entries()) phone.speak({ sound: sine(pitches[index] ?? 0, 0.2) })
    legs.run(3000)
    for (const [listener, phone] of phones.entries()) {
      const audio = phone.audio(1000)
      for (const speaker of phones.keys()) {
        const share = toneShare(audio, pitches[speaker] ?? 0)
        if (speaker === listener) expect(share).toBeLessThan(0.001)
        else expect(share).toBeCloseTo(1 / 3, 1)
      }
      // Three voices: 4.8 dB over one.
      expect(levelDb(audio, 0.2)).toBeCloseTo(4.8, 0)
    }
  })

  it('phones of both laws meet', () => {
    const { legs, phones } = meeting(1)
    const other = legs.leg('other', { law: 'PCMA' })
    other.wire(inRoom())
    phones[0]?.speak({ sound: sine(400) })
    other.speak({ sound: sine(1000) })
    legs.run(2000)
    expect(toneShare(other.audio(1000), 400)).toBeGreaterThan(0.99)
    expect(toneShare(phones[0]?.audio(1000) ?? other.audio(0), 1000)).toBeGreaterThan(0.99)
  })

  it('those who say nothing are sent the same octets', () => {
    const { legs, phones } = meeting(5)
    const [speaker, ...listeners] = phones
    speaker?.speak({ sound: sine(400) })
    // An open line with a little noise is not a voice.
    for (const phone of listeners) phone.speak({ sound: sine(300, 0.001) })
    legs.run(2000)
    const [first] = listeners
    for (const phone of listeners) {
      expect(toneShare(phone.audio(1000), 400)).toBeGreaterThan(0.99)
      expect(phone.between(1000).map(({ payload }) => payload.toString('hex'))).toEqual(
        first?.between(1000).map(({ payload }) => payload.toString('hex')),
      )
    }
    // The speaker hears the silence of the others.
    expect(speaker?.between(1000).every(({ payload }) => payload.every((octet) => octet === 0xff))).toBe(true)
  })

  it('one who is muted hears and is not heard, and one who only listens is not either', () => {
    const { legs, phones } = meeting(2)
    const [a, b] = phones
    const listener = legs.leg('listener')
    listener.wire({ hears: [{ id: 'room', from: { kind: 'room', id: 'meeting' } }] })
    b?.wire(inRoom({ isMuted: true }))
    a?.speak({ sound: sine(400) })
    b?.speak({ sound: sine(700) })
    listener.speak({ sound: sine(1000) })
    legs.run(2000)
    expect(levelDb(a?.audio(1000) ?? listener.audio(0))).toBeLessThan(-60)
    expect(toneShare(b?.audio(1000) ?? listener.audio(0), 400)).toBeGreaterThan(0.99)
    expect(toneShare(listener.audio(1000), 400)).toBeGreaterThan(0.99)
    b?.wire(inRoom())
    legs.run(1000)
    expect(hears(listener, 700, 2200)).toBe(true)
  })

  it('a coach is heard by those whom it names only', () => {
    const { legs, phones } = meeting(3)
    const [agent, customer, coach] = phones
    if (agent === undefined || customer === undefined || coach === undefined)
      throw new Error('three are there')
    coach.wire(inRoom({ speaksIn: { room: 'meeting', onlyTo: ['member 0'] } }))
    agent.speak({ sound: sine(400, 0.2) })
    customer.speak({ sound: sine(700, 0.2) })
    coach.speak({ sound: sine(1000, 0.2) })
    legs.run(2000)
    expect([400, 700, 1000].map((hz) => hears(agent, hz, 1000))).toEqual([false, true, true])
    expect([400, 700, 1000].map((hz) => hears(customer, hz, 1000))).toEqual([true, false, false])
    expect([400, 700, 1000].map((hz) => hears(coach, hz, 1000))).toEqual([true, true, false])
  })

  it('one who has left is not heard any more, and rooms do not hear each other', () => {
    const { legs, phones } = meeting(3)
    const [a, b, c] = phones
    if (a === undefined || b === undefined || c === undefined) throw new Error('three are there')
    for (const [index, phone] of phones.entries()) phone.speak({ sound: sine(pitches[index] ?? 0, 0.2) })
    legs.run(1000)
    c.wire(inRoom({}, 'another'))
    legs.run(1000)
    expect([400, 550, 700].map((hz) => hears(a, hz, 1200))).toEqual([false, true, false])
    expect(levelDb(c.audio(1200))).toBeLessThan(-60)
    b.wire({})
    legs.run(1000)
    expect(levelDb(a.audio(2200))).toBeLessThan(-60)
    expect(levelDb(b.audio(2200))).toBeLessThan(-60)
  })

  it('lines without a voice for 300 ms add nothing to the mix, however many they are', () => {
    const { legs, phones } = meeting(30)
    for (const [index, phone] of phones.entries()) {
      // All of them speak at first, then only two. Without the gate the noise of the others would add up.
      const ownHz = pitches[index]
      const isSpeaker = index < 2
      phone.speak({
        sound: (seconds) =>
          sine(isSpeaker ? (ownHz ?? 0) : 300, seconds < 1 || isSpeaker ? 0.02 : 0.002)(seconds),
      })
    }
    legs.run(3000)
    const listener = phones.at(-1)!
    expect(toneShare(slice(listener.audio(0), 400, 900), 300)).toBeGreaterThan(0.9)
    const later = slice(listener.audio(0), 1600, 2900)
    expect(toneShare(later, 300)).toBeLessThan(0.01)
    expect(toneShare(later, pitches[0] ?? 0)).toBeGreaterThan(0.4)
    expect(toneShare(later, pitches[1] ?? 0)).toBeGreaterThan(0.4)
  })

  it('pauses of a voice are not cut, and a word after a long one is whole', () => {
    const { legs, phones } = meeting(2)
    const [a, b] = phones
    // In turn, 200 ms of voice and 200 ms of a faint breath; then two seconds of breath.
    a?.speak({
      sound: (seconds) =>
        sine(400, (seconds * 5) % 2 < 1 && (seconds < 2 || seconds > 4) ? 0.3 : 0.001)(seconds),
    })
    legs.run(5000)
    const faint = b?.between(1200, 1400) ?? []
    expect(faint.some(({ payload }) => payload.some((octet) => octet !== 0xff && octet !== 0x7f))).toBe(true)
    const long = b?.between(3000, 3900) ?? []
    expect(long.every(({ payload }) => payload.every((octet) => octet === 0xff))).toBe(true)
    // Spoken for 200 ms from 4000 on.
    const word = b?.audio(4000, 4240) ?? { sampleRate: 8000, samples: new Float64Array() }
    expect(word.samples.filter((sample) => Math.abs(sample) > 0.1).length).toBeGreaterThan(1100)
  })
})

/** Counts the frames that are coded. */
function countingCoders(): { coders: Coders; coded: () => number } {
  let coded = 0
  const counting = (coder: Encoder): Encoder => ({
    ...coder,
    encode: (frame, into, at) => {
      coded += 1
      return coder.encode(frame, into, at)
    },
  })
  const coders = createCoders(laws)
  return { coders: { ...coders, encoder: (name) => counting(coders.encoder(name)) }, coded: () => coded }
}

describe('one who comes into a room', () => {
  const beepHz = 440

  it('makes all hear a tone, once, if it requests that', () => {
    const { legs, phones } = meeting(2)
    legs.run(1000)
    const late = legs.leg('late')
    const quiet = legs.leg('quiet')
    const beeping = { speaksIn: { room: 'meeting', beeps: true } }
    late.wire(inRoom(beeping))
    legs.run(1000)
    for (const phone of [...phones, late]) {
      expect(toneShare(phone.audio(1000, 1240), beepHz)).toBeGreaterThan(0.95)
      expect(levelDb(phone.audio(1300, 2000))).toBeLessThan(-60)
    }
    late.wire(inRoom({ ...beeping, isMuted: true }))
    quiet.wire(inRoom())
    legs.run(1000)
    for (const phone of phones) expect(levelDb(phone.audio(2000, 3000))).toBeLessThan(-60)
  })

  it('makes all hear the tone while another member continues to speak', () => {
    const { legs, phones } = meeting(2)
    const [speaker, listener] = phones
    speaker?.speak({ sound: sine(1000, 0.2) })
    legs.run(1000)
    legs.leg('late').wire(inRoom({ speaksIn: { room: 'meeting', beeps: true } }))
    legs.run(1000)
    const during = listener?.audio(1020, 1220) ?? legs.leg('none').audio(0)
    expect(toneShare(during, beepHz)).toBeGreaterThan(0.1)
    expect(toneShare(during, 1000)).toBeGreaterThan(0.3)
    expect(hears(speaker ?? legs.leg('none'), beepHz, 1000)).toBe(true)
  })
})

describe('who talks in a room', () => {
  const reporting = { speaksIn: { room: 'meeting', reportsTalk: true } }
  const talksOf = ({ events }: VirtualPhone): boolean[] =>
    events.flatMap((event) => (event.type === 'talk' ? [event.isTalking] : []))
  /** Says the word in the first part of each stretch. */
  const words =
    (onMs: number, everyMs: number) =>
    (seconds: number): number =>
      (seconds * 1000) % everyMs < onMs ? sine(500)(seconds) : 0

  it('is reported at the start and at the end of talking, for members that request it', () => {
    const { legs, phones } = meeting(2)
    const [a, b] = phones as [VirtualPhone, VirtualPhone]
    a.wire(inRoom(reporting))
    for (const phone of phones) phone.speak({ sound: words(2000, 1e9) })
    legs.run(1000)
    expect(phones.map(talksOf)).toEqual([[true], []])
    legs.run(2000)
    expect(phones.map(talksOf)).toEqual([[true, false], []])
    expect(b.events.filter(({ type }) => type === 'talk')).toEqual([])
  })

  it('is not changed by pauses between words, nor by a click or an open line', () => {
    const { legs, phones } = meeting(3)
    for (const phone of phones) phone.wire(inRoom(reporting))
    phones[0]?.speak({ sound: words(400, 600) })
    phones[1]?.speak({ sound: words(40, 2000) })
    phones[2]?.speak({ sound: sine(300, 0.001) })
    legs.run(6000)
    expect(phones.map(talksOf)).toEqual([[true], [], []])
  })

  it('is reported twice a second at most, and the last report is correct', () => {
    const { legs, phones } = meeting(2)
    phones[0]?.wire(inRoom(reporting))
    phones[0]?.speak({ sound: (seconds) => (seconds < 10 ? words(120, 480)(seconds) : 0) })
    legs.run(10_000)
    const said = talksOf(phones[0] as VirtualPhone)
    expect(said.length).toBeGreaterThan(4)
    expect(said.length).toBeLessThanOrEqual(21)
    legs.run(2000)
    expect(talksOf(phones[0] as VirtualPhone).at(-1)).toBe(false)
  })

  it('is not reported of a muted member', () => {
    const { legs, phones } = meeting(2)
    phones[0]?.wire(inRoom({ ...reporting, isMuted: true }))
    phones[0]?.speak({ sound: sine(500) })
    legs.run(2000)
    expect(talksOf(phones[0] as VirtualPhone)).toEqual([])
  })
})

describe('the work of a room', () => {
  function roomOf(
    speakers: Readonly<Record<string, number>>,
    seats: Readonly<Record<string, SpeaksIn>> = {},
  ) {
    const { coders, coded } = countingCoders()
    let asked = 0
    const room = new Room(coders, (id) => ({
      id,
      voice: () => {
        asked += 1
        const value = speakers[id]
        return value === undefined ? undefined : new SampleFrame(new Int16Array(160).fill(value))
      },
    }))
    for (const id of Object.keys(speakers)) room.enter(id, seats[id] ?? { room: 'room' })
    return { room, coded, asked: () => asked }
  }

  it('is one mix and one coding for each codec, however many listen', () => {
    const { room, coded, asked } = roomOf({ a: 1000, b: 2000 })
    for (let listener = 0; listener < 1000; listener += 1) {
      const frame = room.frame(`listener ${listener}`, 1, 0)
      expect(frame?.samples()[0]).toBe(3000)
      frame?.octets('PCMU')
      if (listener % 2 === 0) frame?.octets('PCMA')
    }
    expect(coded()).toBe(2)
    expect(asked()).toBe(2)
    room.frame('listener 1', 2, 20)?.octets('PCMU')
    expect(coded()).toBe(3)
  })

  it('gives each speaker the sum without its own', () => {
    const { room } = roomOf({ a: 1000, b: 2000, c: 4000 })
    expect(['a', 'b', 'c', 'd'].map((id) => room.frame(id, 1, 0)?.samples()[7])).toEqual([
      6000, 5000, 3000, 7000,
    ])
    expect(room.frame('a', 1, 0)?.octets('PCMU')).toBeUndefined()
  })

  it('clips a loud sum only after the own voice was subtracted', () => {
    const { room } = roomOf({ a: 30_000, b: 30_000, c: -30_000 })
    expect(['a', 'b', 'c', 'd'].map((id) => room.frame(id, 1, 0)?.samples()[0])).toEqual([
      0, 0, 32_767, 30_000,
    ])
  })

  it('is nothing when no one speaks', () => {
    const { room } = roomOf({ a: 1, b: 2 })
    expect(room.frame('listener', 1, 0)).toBeUndefined()
    expect(roomOf({ a: 1000 }).room.frame('a', 1, 0)).toBeUndefined()
    expect(roomOf({}).room.isEmpty).toBe(true)
  })

  it('adds what a coach says for those whom it names', () => {
    const { room } = roomOf({ a: 1000, coach: 500 }, { coach: { room: 'room', onlyTo: ['a', 'b'] } })
    expect(['a', 'b', 'c', 'coach'].map((id) => room.frame(id, 1, 0)?.samples()[0])).toEqual([
      500, 1500, 1000, 1000,
    ])
  })
})
