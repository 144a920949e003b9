import { describe, expect, it } from 'vitest'
import { Reception } from './reception.ts'

interface Step {
  readonly sequence: number
  readonly ssrc?: number
  readonly timestamp?: number
  readonly arrival?: number
}

function hear(
  reception: Reception,
  { sequence, ssrc = 1, timestamp = sequence * 160, arrival = timestamp }: Step,
): string {
  return reception.accept({ marker: false, payloadType: 0, sequence, timestamp, ssrc }, arrival, true)
}

describe('arrivals', () => {
  it.each<[string, number[], string[], number]>([
    ['in order', [1, 2, 3], ['next', 'next', 'next'], 0],
    ['across the wrap', [65_534, 65_535, 0, 1], ['next', 'next', 'next', 'next'], 0],
    ['from sequence 0', [0, 1], ['next', 'next'], 0],
    ['with a loss', [1, 2, 5], ['next', 'next', 'next'], 2],
    ['repeated', [1, 2, 2, 1, 3], ['next', 'next', 'duplicate', 'duplicate', 'next'], 0],
    ['out of order', [1, 3, 2, 4], ['next', 'next', 'late', 'next'], 0],
    ['out of order across the wrap', [65_535, 1, 0], ['next', 'next', 'late'], 0],
    ['older than the first', [5, 4, 6], ['next', 'duplicate', 'next'], 0],
    ['a single stray', [1, 20_000, 2], ['next', 'stray', 'next'], 0],
    ['a restart', [1, 2, 20_000, 20_001, 20_002], ['next', 'next', 'stray', 'next', 'next'], 0],
  ])('%s', (_name, sequences, expected, lost) => {
    const reception = new Reception()
    expect(sequences.map((sequence) => hear(reception, { sequence }))).toEqual(expected)
    expect(reception.packetsLost).toBe(lost)
    expect(reception.packetsReceived).toBe(expected.filter((one) => one === 'next' || one === 'late').length)
  })

  it('of a new source start afresh and keep the former counts', () => {
    const reception = new Reception()
    for (const sequence of [1, 2, 4]) hear(reception, { sequence })
    hear(reception, { sequence: 60_000, ssrc: 2 })
    expect([reception.packetsReceived, reception.packetsLost, reception.ssrc]).toEqual([4, 1, 2])
  })
})

describe('a report', () => {
  it('tells the loss since the last one as a fraction, and all loss as a sum', () => {
    const reception = new Reception()
    for (const sequence of [65_534, 65_535, 0, 2]) hear(reception, { sequence })
    expect(reception.report()).toMatchObject({
      ssrc: 1,
      fractionLost: Math.floor(256 / 5),
      packetsLost: 1,
      highestSequence: 65_538,
    })
    for (const sequence of [3, 4]) hear(reception, { sequence })
    expect(reception.report()).toMatchObject({ fractionLost: 0, packetsLost: 1 })
    expect(reception.report()).toBeUndefined()
  })

  it('measures jitter as RFC 3550 appendix A.8 does', () => {
    const reception = new Reception()
    let expected = 0
    let last: number | undefined
    for (let sequence = 0; sequence < 200; sequence += 1) {
      const delay = (sequence % 3) * 40
      hear(reception, { sequence, arrival: sequence * 160 + delay })
      if (last !== undefined) expected += (Math.abs(delay - last) - expected) / 16
      last = delay
    }
    expect(reception.jitter).toBeCloseTo(expected, 6)
    expect(expected).toBeGreaterThan(40)
  })

  it('does not count a pause with its timestamps as jitter, also across their wrap', () => {
    const reception = new Reception()
    hear(reception, { sequence: 1, timestamp: 0xffff_ff00, arrival: 5000 })
    hear(reception, { sequence: 2, timestamp: 0x300, arrival: 5000 + 0x400 })
    expect(reception.jitter).toBe(0)
  })
})
