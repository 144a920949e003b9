import { describe, expect, it } from 'vitest'
import { comfortNoise, encodingOf, eventClockOf, notAgreed, toPayloadKinds } from './payload-kinds.ts'

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
