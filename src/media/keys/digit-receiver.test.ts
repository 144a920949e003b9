import { describe, expect, it } from 'vitest'
import { DigitReceiver, type Digit, type EventPacket } from './digit-receiver.ts'
import { digitsByEvent, type TelephoneEvent } from '../rtp/telephone-event.ts'

interface Timed extends EventPacket {
  readonly atMs: number
  /** The sequence number of the RTP header, which shows which packets are late. */
  readonly sequence: number
}

/** The content of one tick of 20 ms from a sender that follows the RFC; a pause has none. */
type DigitStep =
  | { readonly kind: 'event'; readonly event: TelephoneEvent; readonly isFirst: boolean }
  | { readonly kind: 'pause' }

const tickMs = 20
const endPackets = 3
// The end is repeated in the first ticks of the pause. RFC 4733 §2.5.1.4 and Q.24 both demand 40 ms or more.
const pauseTicks = 5
/** `w` waits, as in dial strings. */
const waitTicks = 500 / tickMs

function* stepsOf(digit: string, durationMs: number): Generator<DigitStep> {
  if (digit === 'w') {
    for (let tick = 0; tick < waitTicks; tick += 1) yield { kind: 'pause' }
    return
  }
  const event = digitsByEvent.indexOf(digit.toUpperCase())
  const ticks = Math.round(durationMs / tickMs)
  for (let tick = 1; tick <= ticks + endPackets - 1; tick += 1) {
    // The end packet and its repeats carry the same, final duration: RFC 4733 §2.5.1.4.
    const duration = Math.min(tick, ticks) * tickMs * 8
    yield { kind: 'event', event: { event, isEnd: tick >= ticks, duration }, isFirst: tick === 1 }
  }
  for (let tick = endPackets - 1; tick < pauseTicks; tick += 1) yield { kind: 'pause' }
}

/** Yields one step per tick until all digits are sent. */
function* digitSteps(digits: string, durationMs: number): Generator<DigitStep> {
  for (const digit of digits) yield* stepsOf(digit, durationMs)
}

let sent = 0

/** Returns the packets of digits, with the time and timestamp of each. */
function packetsOf(digits: string, { durationMs = 100, startTimestamp = 0, ssrc = 1 } = {}): Timed[] {
  const packets: Timed[] = []
  let tick = 0
  let timestamp = startTimestamp
  for (const step of digitSteps(digits, durationMs)) {
    if (step.kind === 'event') {
      if (step.isFirst) timestamp = (startTimestamp + tick * 160) >>> 0
      packets.push({
        ...step.event,
        clockRate: 8000,
        marker: step.isFirst,
        timestamp,
        ssrc,
        atMs: tick * 20,
        sequence: (sent += 1),
        isLate: false,
      })
    }
    tick += 1
  }
  return packets
}

function receive(packets: readonly Timed[], receiver = new DigitReceiver()): Digit[] {
  const digits: Digit[] = []
  let nowMs = 0
  const expireUntil = (end: number): void => {
    for (; nowMs < end; nowMs += 20) {
      const digit = receiver.expire(nowMs)
      if (digit !== undefined) digits.push(digit)
    }
  }
  const highest = new Map<number, number>()
  for (const packet of packets) {
    expireUntil(packet.atMs)
    const { ssrc, sequence } = packet
    const isLate = sequence <= (highest.get(ssrc) ?? -1)
    if (!isLate) highest.set(ssrc, sequence)
    digits.push(...receiver.accept({ ...packet, isLate }, packet.atMs))
  }
  expireUntil(nowMs + 1000)
  return digits
}

const text = (digits: readonly Digit[]): string => digits.map(({ digit }) => digit).join('')

function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

describe('keys heard', () => {
  it('are reported once each, with their length, all sixteen of them', () => {
    const digits = receive(packetsOf(digitsByEvent, { durationMs: 120 }))
    expect(text(digits)).toBe(digitsByEvent)
    expect(digits.every(({ durationMs }) => durationMs === 120)).toBe(true)
  })

  it.each<[string, (packet: Timed, index: number) => boolean, string]>([
    ['all starts are lost', ({ marker }) => !marker, '5566'],
    ['all ends are lost', ({ isEnd }) => !isEnd, '5566'],
    ['only one end packet comes', (_, index) => index % 7 === 6, '5566'],
    ['only one middle packet comes', (_, index) => index % 7 === 2, '5566'],
    ['everything between is lost', ({ marker, isEnd }) => marker || isEnd, '5566'],
  ])('are counted when %s', (_name, keep, expected) => {
    expect(text(receive(packetsOf('5566').filter(keep)))).toBe(expected)
  })

  it('are counted when packets come twice and out of order', () => {
    const packets = packetsOf('1123')
    const twice = packets.flatMap((packet) => [packet, packet])
    const swapped = twice
      .map((_, index) => twice[index ^ 1] ?? twice[index])
      .filter((one) => one !== undefined)
    const delayed = packets.flatMap((packet, index) =>
      index % 3 === 0 && index > 0 ? [packet, packets[index - 1] ?? packet] : [packet],
    )
    expect(text(receive(swapped))).toBe('1123')
    expect(text(receive(delayed))).toBe('1123')
  })

  it('are counted when an old end comes after the next key began', () => {
    const packets = packetsOf('77')
    const lateEnd = packets[6]
    const order = [
      ...packets.slice(0, 4),
      ...packets.slice(7, 9),
      ...(lateEnd ? [lateEnd] : []),
      ...packets.slice(9),
    ]
    expect(text(receive(order.map((packet, index) => ({ ...packet, atMs: index * 20 }))))).toBe('77')
  })

  it('are distinguished by their timestamp when the same one is pressed quickly', () => {
    expect(text(receive(packetsOf('0000000000', { durationMs: 40 })))).toBe('0000000000')
  })

  it('may be held for longer than one segment of 8 s', () => {
    const packets: Timed[] = []
    for (let units = 400; units <= 100_000; units += 400) {
      const segment = Math.floor((units - 1) / 0xffff)
      packets.push({
        event: 9,
        clockRate: 8000,
        isEnd: units === 100_000,
        duration: units - segment * 0xffff,
        timestamp: (0xffff_ff00 + segment * 0xffff) >>> 0,
        marker: units === 400,
        ssrc: 1,
        atMs: units / 8,
        sequence: (sent += 1),
        isLate: false,
      })
    }
    expect(receive(packets)).toEqual([{ digit: '9', durationMs: 12_500 }])
  })

  it('are reported within 200 ms when the end is lost', () => {
    const receiver = new DigitReceiver()
    for (const packet of packetsOf('4').slice(0, 3)) receiver.accept(packet, packet.atMs)
    expect(receiver.expire(100)).toBeUndefined()
    expect(receiver.expire(200)).toEqual({ digit: '4', durationMs: 60 })
    expect(receiver.expire(220)).toBeUndefined()
    expect(receiver.accept(packetsOf('4').at(-1) as Timed, 240)).toEqual([])
  })

  it('are not confused by another source, a restart of timestamps, or events that are no keys', () => {
    const receiver = new DigitReceiver()
    const second = packetsOf('2', { ssrc: 2, startTimestamp: 5 }).map((one) => ({
      ...one,
      atMs: one.atMs + 400,
    }))
    const restarted = packetsOf('3', { ssrc: 2, startTimestamp: 1 }).map((one) => ({
      ...one,
      atMs: one.atMs + 9000,
    }))
    const flash = { ...(second[0] as Timed), event: 16 }
    const first = packetsOf('1', { startTimestamp: 90_000 })
    expect(text(receive([...first, flash, ...second, ...restarted], receiver))).toBe('123')
  })
})

describe('senders that do not keep to the RFC', () => {
  /** Returns packets that have the timestamps of their own times, as audio has. */
  function moving(digits: string, options: Parameters<typeof packetsOf>[1] = {}): Timed[] {
    return packetsOf(digits, options).map((packet) => ({ ...packet, timestamp: packet.atMs * 8 }))
  }

  it('have each key heard once when the timestamp moves within it, repeated ends included', () => {
    const digits = receive(moving('5', { durationMs: 300 }))
    expect(digits).toEqual([{ digit: '5', durationMs: 300 }])
    expect(text(receive(moving('5566')))).toBe('5566')
  })

  it('have its length right when each packet counts from its own timestamp', () => {
    const packets = moving('5', { durationMs: 300 }).map((packet) => ({ ...packet, duration: 160 }))
    expect(receive(packets)).toEqual([{ digit: '5', durationMs: 280 }])
  })

  it('have a moving key heard once when packets are lost, late or come twice', () => {
    const packets = moving('1589')
    expect(text(receive(packets.filter((_, index) => index % 3 !== 1)))).toBe('1589')
    const swapped = packets.map((_, index) => packets[index ^ 1] ?? packets[index]) as Timed[]
    expect(text(receive(swapped))).toBe('1589')
    expect(text(receive(packets.flatMap((packet) => [packet, packet])))).toBe('1589')
  })

  it.each([40, 200, 1900])(
    'are heard when they count timestamps from the start again after %i ms',
    (pauseMs) => {
      const first = packetsOf('1', { startTimestamp: 900_000 })
      const restMs = (first.at(-1)?.atMs ?? 0) + pauseMs
      const second = packetsOf('23', { startTimestamp: 160 }).map((one) => ({
        ...one,
        atMs: one.atMs + restMs,
      }))
      expect(text(receive([...first, ...second]))).toBe('123')
    },
  )

  it('are heard when every key has one and the same timestamp', () => {
    const packets = packetsOf('12334').map((packet) => ({ ...packet, timestamp: 0 }))
    expect(text(receive(packets))).toBe('12334')
  })

  it('are heard when the SSRC changes with every key', () => {
    const packets = ['1', '1', '2', '3'].flatMap((digit, index) =>
      packetsOf(digit, { ssrc: index + 1 }).map((one) => ({ ...one, atMs: one.atMs + index * 200 })),
    )
    expect(text(receive(packets))).toBe('1123')
  })
})

describe('50,000 keys', () => {
  it.each([
    ['5% loss', 0.05, 0],
    ['5% loss with repeats and reordering', 0.05, 0.05],
  ])('arrive without an error at %s', (_name, loss, disorder) => {
    const random = randomFrom(4733)
    const keys = Array.from({ length: 50_000 }, () => digitsByEvent.charAt(Math.floor(random() * 16))).join(
      '',
    )
    // Timestamps wrap in the middle.
    const packets = packetsOf(keys, { durationMs: 100, startTimestamp: 0xf000_0000 })
    const heard: Timed[] = []
    for (const packet of packets) {
      if (random() < loss) continue
      const late = random() < disorder ? 25 : 0
      heard.push({ ...packet, atMs: packet.atMs + late })
      if (random() < disorder) heard.push({ ...packet, atMs: packet.atMs + 45 })
    }
    heard.sort((a, b) => a.atMs - b.atMs)
    const received = text(receive(heard))
    expect(received.length).toBe(keys.length)
    expect(received === keys).toBe(true)
  })
})
