import { describe, expect, it } from 'vitest'
import { toMediaFact, toSilenceFact } from './media-facts.ts'

const place = { address: '192.0.2.7', port: 40_000 }

describe('where media comes from', () => {
  it.each([
    ['sdp', 'the SDP names'],
    ['sdp-address', 'another port'],
    ['sip-address', 'behind NAT'],
    ['same-stream', 'continues'],
    ['behind-nat', 'several addresses'],
  ] as const)('is explained when it is trusted as %s', (trust, words) => {
    const first = toMediaFact({ type: 'first-packet', ...place, trust })
    expect(first).toMatchObject({ type: 'media-first-packet', ...place, trust })
    expect(first).toHaveProperty('because', expect.stringContaining(words))
    expect(toMediaFact({ type: 'moved', ...place, trust })).toMatchObject({ type: 'media-moved', ...place })
  })

  it('is explained when it is not heard', () => {
    const ignored = toMediaFact({ type: 'ignored', ...place })
    expect(ignored).toMatchObject({ type: 'media-ignored', ...place })
    expect(ignored).toHaveProperty('because', expect.stringContaining('dropped'))
  })

  it('is not reported for keys and for events that end the call, which are journalled elsewhere', () => {
    expect(toMediaFact({ type: 'digit', digit: '1', durationMs: 100 })).toBeUndefined()
    expect(toMediaFact({ type: 'lost' })).toBeUndefined()
  })
})

describe('the silence that ends a call', () => {
  const timeout = { type: 'timeout', cause: 'silent', silentMs: 20_000, limitMs: 20_000 } as const
  it.each([
    [true, false, 'heard before'],
    [false, true, 'neither the SDP nor signalling'],
    [false, false, 'firewall'],
  ])('says what was heard (%s) and ignored (%s) before', (wasHeard, hasIgnored, words) => {
    expect(toSilenceFact(timeout, { wasHeard, hasIgnored })).toMatchObject({
      type: 'media-timeout',
      silent_ms: 20_000,
      cause: 'silent',
      because: expect.stringContaining(words) as string,
    })
  })
})
