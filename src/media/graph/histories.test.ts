// Senders that step in their numbers: what is heard of them if their packets are decoded, and if they are passed on.
import { describe, expect, it } from 'vitest'
import {
  bridge,
  laws,
  sine,
  VirtualLegs,
  type HeardPacket,
  type LegOptions,
  type VirtualPhone,
} from '../../../test/support/virtual-legs.ts'

const changedMs = 2000
const watchedMs = 1500

type Change = (sender: VirtualPhone) => void

const step =
  (sequence: number, timestampMs: number, ssrc = 0): Change =>
  (sender) => {
    sender.sequence += sequence
    sender.timestamp += timestampMs * 8
    sender.ssrc += ssrc
  }

/** The state of the sender at the beginning, and its change after two seconds. */
const histories: readonly (readonly [string, Change, Change])[] = [
  ['nothing happens', step(0, 0), step(0, 0)],
  ['its sequence wraps', (one) => void (one.sequence = 65_450), step(0, 0)],
  ['its timestamps wrap', (one) => void (one.timestamp = 2 ** 32 - 16_000), step(0, 0)],
  [
    'its timestamps pass the middle of their range',
    (one) => void (one.timestamp = 2 ** 31 - 16_000),
    step(0, 0),
  ],
  ...[20, 90, 500, 2500, 20_000].flatMap((by) => [
    [`its sequence steps ahead by ${by}`, step(0, 0), step(by, 0)] as const,
    [`its sequence steps back by ${by}`, step(30_000, 0), step(-by, 0)] as const,
  ]),
  ...[200, 1000, 5000, 20_000, 1_000_000].flatMap((ms) => [
    [`its timestamps step ahead by ${ms} ms`, step(0, 0), step(0, ms)] as const,
    [`its timestamps step back by ${ms} ms`, step(0, 0), step(0, -ms)] as const,
  ]),
  ['it restarts both, ahead', step(0, 0), step(700, 4000)],
  ['it restarts both, back', step(30_000, 0), step(-700, -4000)],
  ['it restarts both, in opposite directions', step(30_000, 0), step(-700, 4000)],
  ['it restarts both far away', step(0, 0), step(17_000, 90_000_000)],
  ['it becomes another source', step(0, 0), step(0, 0, 500)],
  ['it becomes another source with other numbers', step(30_000, 0), step(-700, -4000, 500)],
]

const isLoud = ({ payload, payloadType }: HeardPacket): boolean => {
  const { decode } = laws[payloadType === 8 ? 'PCMA' : 'PCMU']
  return payload.some((octet) => Math.abs(decode[octet] ?? 0) > 3000)
}

/**
 * Returns how many packets with sound a simple phone plays. It forgives nothing: it plays a packet only if its
 * sequence number is newer than the last one, if its time has not passed, and if it need not wait for long.
 */
function playedBySimplePhone(packets: readonly HeardPacket[]): number {
  const waitsMs = 200
  let last: HeardPacket | undefined
  let played = 0
  for (const packet of packets) {
    const ahead = last === undefined ? 1 : ((packet.sequence - last.sequence) << 16) >> 16
    const laterMs = last === undefined ? 20 : ((packet.timestamp - last.timestamp) | 0) / 8
    const passedMs = last === undefined ? 20 : packet.atMs - last.atMs
    if (ahead <= 0 || laterMs <= 0 || laterMs - passedMs > waitsMs) continue
    last = packet
    if (isLoud(packet)) played += 1
  }
  return played
}

/** Returns the packets that a phone hears of such a sender, from the change on. */
function heardOf(
  [, begin, change]: (typeof histories)[number],
  listener: LegOptions,
): readonly HeardPacket[] {
  const legs = new VirtualLegs()
  const [sender, hearer] = [legs.leg('sender'), legs.leg('hearer', listener)]
  begin(sender)
  bridge(sender, hearer)
  sender.speak({ sound: sine(440) })
  legs.run(changedMs)
  change(sender)
  legs.run(watchedMs)
  return hearer.between(changedMs - 500)
}

const paths: readonly (readonly [string, LegOptions])[] = [
  ['decoded', { law: 'PCMA' }],
  ['passed on', { law: 'PCMU' }],
]

describe.each(paths)('of a sender whose packets are %s', (_, listener) => {
  it.each(histories)('a simple phone misses less than 200 ms when %s', (...history) => {
    const packets = heardOf(history, listener)
    expect(new Set(packets.map(({ ssrc }) => ssrc)).size).toBe(1)
    const expected = (watchedMs + 500) / 20
    expect(playedBySimplePhone(packets)).toBeGreaterThanOrEqual(expected - 10)
  })
})

it('packets are passed on in one of the two, and decoded in the other', () => {
  const [quiet] = histories
  if (quiet === undefined) throw new Error('there is no history')
  const inTicks = paths.map(
    ([, listener]) => heardOf(quiet, listener).filter(({ atMs }) => atMs % 20 === 7).length,
  )
  expect(inTicks[0]).toBeGreaterThan(90)
  expect(inTicks[1]).toBe(0)
})
