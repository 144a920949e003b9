import { describe, expect, it } from 'vitest'
import type { AppError } from '../../lib/errors.ts'
import { KeySender } from './key-sender.ts'
import { parseRtp, type RtpPacket } from '../rtp/packet.ts'
import { RtpSender } from '../rtp/sender.ts'
import { parseTelephoneEvent } from '../rtp/telephone-event.ts'
import { DigitReceiver } from './digit-receiver.ts'

interface Sent {
  readonly tick: number
  readonly packet: RtpPacket
}

/** Runs ticks until no key is left to press; ticks without a key carry speech. */
const events101 = { payloadType: 101, clockRate: 8000 }

function pressed(digits: string, durationMs: number, { isTaken = true } = {}) {
  const format = isTaken ? events101 : undefined
  const sender = new RtpSender()
  const keys = new KeySender(sender)
  const done = keys.press(digits, durationMs)
  const sent: Sent[] = []
  let tick = 0
  for (; keys.isBusy && tick < 10_000; tick += 1) {
    const outgoing = keys.tick(tick, format)
    const { packet, bytes } =
      outgoing ?? sender.audio(tick, { payloadType: 0, startsTalk: false, payloadBytes: 160 })
    const parsed = parseRtp(Buffer.from(packet.subarray(0, bytes)))
    if (parsed !== undefined) sent.push({ tick, packet: parsed })
  }
  const events = sent.filter(({ packet }) => packet.payloadType === 101)
  return { done, sent, events, ticks: tick, sender, keys }
}

const eventOf = ({ packet }: Sent) => parseTelephoneEvent(packet.payload)

describe('keys that are pressed', () => {
  it('are refused while too many wait: a far end could press more than can be sent to another one', async () => {
    const keys = new KeySender(new RtpSender())
    const presses = Array.from({ length: 1000 }, () => keys.press('5', 100))
    keys.close()
    const outcomes = await Promise.allSettled(presses)
    const codes = outcomes.map((one) => one.status === 'rejected' && (one.reason as AppError).code)
    expect(new Set(codes)).toEqual(new Set(['not_found', 'overloaded']))
  })
})

describe('a key that is pressed', () => {
  it('grows from packet to packet, is marked at its start, and its end is sent three times (RFC 4733 §2.5.1.4)', () => {
    const { events } = pressed('5', 100)
    expect(events.map(eventOf)).toEqual([
      ...[160, 320, 480, 640].map((duration) => ({ event: 5, isEnd: false, duration })),
      ...[800, 800, 800].map((duration) => ({ event: 5, isEnd: true, duration })),
    ])
    expect(events.map(({ packet }) => packet.marker)).toEqual([true, ...Array<boolean>(6).fill(false)])
    expect(new Set(events.map(({ packet }) => packet.timestamp)).size).toBe(1)
    expect(events.map(({ tick }) => tick)).toEqual([0, 1, 2, 3, 4, 5, 6])
  })

  it.each([
    ['0123456789', [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]],
    ['*#', [10, 11]],
    ['ABCD', [12, 13, 14, 15]],
    ['abcd', [12, 13, 14, 15]],
  ])('%s has its event', (digits, expected) => {
    const { events } = pressed(digits, 40)
    const starts = events.filter(({ packet }) => packet.marker)
    expect(starts.map((one) => eventOf(one)?.event)).toEqual(expected)
  })

  it('is heard as it was pressed by a receiver, also twice in a row', () => {
    const { events } = pressed('1133#', 120)
    const receiver = new DigitReceiver()
    const heard = events.flatMap(({ tick, packet }) => {
      const event = parseTelephoneEvent(packet.payload)
      const { timestamp, marker, ssrc } = packet
      return event === undefined
        ? []
        : receiver.accept({ ...event, timestamp, marker, ssrc, isLate: false, clockRate: 8000 }, tick * 20)
    })
    expect(heard).toEqual(['1', '1', '3', '3', '#'].map((digit) => ({ digit, durationMs: 120 })))
  })

  it('leaves 250 ms of speech between two, and half a second for a w', () => {
    const { events } = pressed('1w2', 40)
    const [first, second] = events.filter(({ packet }) => packet.marker)
    // Two packets of the key and two more of its end, the pause, and the long one.
    expect((second?.tick ?? 0) - (first?.tick ?? 0)).toBe(4 + 13 + 25)
    const near = pressed('12', 40).events.filter(({ packet }) => packet.marker)
    expect((near[1]?.tick ?? 0) - (near[0]?.tick ?? 0)).toBe(4 + 13)
  })

  it('shares its numbers and the time of its timestamps with the speech around it', () => {
    const { sent } = pressed('12', 60)
    const [first] = sent
    for (const [index, { packet }] of sent.entries())
      expect((packet.sequence - (first?.packet.sequence ?? 0)) & 0xffff).toBe(index)
    for (const { tick, packet } of sent.filter((one) => one.packet.payloadType === 0 || one.packet.marker))
      expect((packet.timestamp - (first?.packet.timestamp ?? 0)) >>> 0).toBe(tick * 160)
  })

  it.each([
    ['at least a packet', 1, 160],
    ['at most eight seconds', 60_000, 64_000],
  ])('lasts %s', (_what, durationMs, expected) => {
    expect(Math.max(...pressed('7', durationMs).events.map((one) => eventOf(one)?.duration ?? 0))).toBe(
      expected,
    )
  })

  it('resolves when the last one is over, and at once when there is none', async () => {
    await pressed('12', 40).done
    await pressed('', 40).done
    await pressed('xyz', 40).done
    expect(pressed('xyz', 40).events).toEqual([])
  })

  it('takes its time without a packet where the far end takes none', () => {
    const { events, ticks } = pressed('1', 100, { isTaken: false })
    expect(events).toEqual([])
    expect(ticks).toBeGreaterThan(5)
  })

  it('is refused when the session is closed before it is over', async () => {
    const keys = new KeySender(new RtpSender())
    const done = keys.press('123', 100)
    keys.tick(0, events101)
    keys.close()
    await expect(done).rejects.toMatchObject({ code: 'not_found' })
    expect(keys.isBusy).toBe(false)
  })

  it('waits for those before it', async () => {
    const sender = new RtpSender()
    const keys = new KeySender(sender)
    const all = [keys.press('1', 40), keys.press('2', 40)]
    const starts: number[] = []
    for (let tick = 0; keys.isBusy; tick += 1) {
      const outgoing = keys.tick(tick, events101)
      const packet =
        outgoing === undefined ? undefined : parseRtp(Buffer.from(outgoing.packet.subarray(0, 16)))
      if (packet?.marker === true) starts.push(packet.payload[0] ?? -1)
    }
    await Promise.all(all)
    expect(starts).toEqual([1, 2])
  })
})

describe('a key that is passed on', () => {
  const source = (timestamp: number, duration: number, marker = false): RtpPacket => ({
    marker,
    payloadType: 97,
    sequence: 1,
    timestamp,
    ssrc: 9,
    payload: Buffer.from([4, 10, duration >> 8, duration & 0xff]),
  })
  const read = (outgoing: { packet: Buffer; bytes: number }): RtpPacket | undefined =>
    parseRtp(Buffer.from(outgoing.packet.subarray(0, outgoing.bytes)))

  it('keeps its octets, has one of our timestamps, and keeps speech back for as long as it comes', () => {
    const sender = new RtpSender()
    const keys = new KeySender(sender)
    expect(keys.isPassing(9)).toBe(false)
    const passed = [1, 2, 3].map((count) =>
      read(keys.pass(source(777, count * 160, count === 1), events101, 9 + count)),
    )
    expect(passed.map((packet) => packet?.payload.readUInt16BE(2))).toEqual([160, 320, 480])
    expect(passed.map((packet) => packet?.timestamp)).toEqual(Array(3).fill(sender.timestampAt(11)))
    expect(passed.map((packet) => packet?.payloadType)).toEqual([101, 101, 101])
    expect(passed.map((packet) => packet?.marker)).toEqual([true, false, false])
    expect([12, 13, 14, 15].map((tick) => keys.isPassing(tick))).toEqual([true, true, true, false])
  })

  it('is another one with another timestamp, marked where its start was lost', () => {
    const sender = new RtpSender()
    const keys = new KeySender(sender)
    const first = read(keys.pass(source(777, 160, true), events101, 1))
    const second = read(keys.pass(source(9777, 480), events101, 40))
    expect(second?.timestamp).toBe(sender.timestampAt(41))
    expect(second?.timestamp).not.toBe(first?.timestamp)
    expect(second?.marker).toBe(true)
  })
})
