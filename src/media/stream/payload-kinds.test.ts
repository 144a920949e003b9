import { describe, expect, it } from 'vitest'
import {
  comfortNoise,
  encodingOf,
  eventClockOf,
  KindsOfPackets,
  notAgreed,
  toPayloadKinds,
} from './payload-kinds.ts'

const kinds = toPayloadKinds({
  codecs: [
    { encoding: 'PCMA', payloadType: 8 },
    { encoding: 'PCMU', payloadType: 97 },
    { encoding: 'PCMU', payloadType: 0 },
  ],
  events: [
    { payloadType: 101, clockRate: 8000 },
    { payloadType: 98, clockRate: 48_000 },
  ],
  noises: [13],
})

describe('the kind of a payload type', () => {
  it.each([
    [8, 'PCMA'],
    [97, 'PCMU'],
    [0, 'PCMU'],
  ])('%i is %s', (payloadType, encoding) => {
    expect(encodingOf(kinds[payloadType] ?? notAgreed)).toBe(encoding)
  })

  it('is an event or noise where those were agreed on, and nothing everywhere else', () => {
    expect([101, 98, 13].map((payloadType) => eventClockOf(kinds[payloadType] ?? notAgreed))).toEqual([
      8000,
      48_000,
      undefined,
    ])
    expect(kinds[13]).toBe(comfortNoise)
    const others = Array.from(kinds.entries()).filter(
      ([payloadType]) => ![8, 97, 0, 101, 98, 13].includes(payloadType),
    )
    expect(others).toHaveLength(122)
    expect(others.every(([, kind]) => kind === notAgreed)).toBe(true)
    for (const payloadType of [1, 101, 13])
      expect(encodingOf(kinds[payloadType] ?? notAgreed)).toBeUndefined()
  })

  it('that stands for two things is speech before a key, and a key before noise', () => {
    const twice = toPayloadKinds({
      codecs: [{ encoding: 'PCMU', payloadType: 5 }],
      events: [
        { payloadType: 5, clockRate: 8000 },
        { payloadType: 6, clockRate: 8000 },
      ],
      noises: [5, 6],
    })
    expect(encodingOf(twice[5] ?? notAgreed)).toBe('PCMU')
    expect(eventClockOf(twice[6] ?? notAgreed)).toBe(8000)
  })

  it('that stands for two codecs is the first one', () => {
    const twice = toPayloadKinds({
      codecs: [
        { encoding: 'PCMA', payloadType: 5 },
        { encoding: 'PCMU', payloadType: 5 },
      ],
      events: [],
      noises: [],
    })
    expect(encodingOf(twice[5] ?? notAgreed)).toBe('PCMA')
  })
})

describe('the kinds of the packets of one stream', () => {
  const speech = (encoding: 'PCMU' | 'PCMA') => ({
    codecs: [{ encoding, payloadType: 0 }],
    events: [{ payloadType: 101, clockRate: 8000 } as const],
    noises: [],
  })

  it('are nothing before they were agreed on, and after it what was agreed on last', () => {
    const of = new KindsOfPackets()
    expect(of.of(0)).toBe(notAgreed)
    of.agree(speech('PCMU'))
    expect(encodingOf(of.of(0))).toBe('PCMU')
    of.agree(speech('PCMA'))
    expect(encodingOf(of.of(0))).toBe('PCMA')
    expect([101, 0, 5, 5].map((payloadType) => of.of(payloadType) === notAgreed)).toEqual([
      false,
      false,
      true,
      true,
    ])
    expect(eventClockOf(of.of(101))).toBe(8000)
  })
})
