import { describe, expect, it } from 'vitest'
import { SourceLatch, type Endpoint, type Verdict } from './source.ts'

const inNat = { address: '10.0.0.5', port: 4000 }
const sip = '203.0.113.7'
const nat = { address: sip, port: 61_000 }
const otherNat = { address: '203.0.113.8', port: 61_000 }
const direct = { address: '198.51.100.20', port: 20_000 }
const stranger = { address: '198.51.100.1', port: 999 }

/** Returns the verdicts on packets every 20 ms from `fromMs` to `toMs`, in one stream whose numbers follow the time. */
function stream(
  latch: SourceLatch,
  from: Endpoint,
  { ssrc = from.port, fromMs = 0, toMs }: { ssrc?: number; fromMs?: number; toMs?: number } = {},
): Verdict[] {
  const verdicts: Verdict[] = []
  for (let nowMs = fromMs; nowMs <= (toMs ?? fromMs); nowMs += 20)
    verdicts.push(latch.accept(from, { ssrc, sequence: (nowMs / 20) & 0xffff }, nowMs))
  return verdicts
}

function signalled(remote: Endpoint, peer: string | undefined = sip): SourceLatch {
  const latch = new SourceLatch()
  latch.signal({ remote: remote, isBarred: false, peer: peer }, 0)
  return latch
}

describe('until something is heard', () => {
  it('media goes where the SDP says', () => {
    expect(new SourceLatch().destination).toBeUndefined()
    expect(signalled(inNat).destination).toEqual(inNat)
  })

  it.each([
    ['the place that the SDP names', direct, direct, 'sdp'],
    ['its address with another port', direct, { ...direct, port: 7 }, 'sdp-address'],
    ['the address of signalling', inNat, nat, 'sip-address'],
  ])('%s is believed at its first packet', (_name, remote, from, trust) => {
    const latch = signalled(remote)
    expect(stream(latch, from)).toEqual(['latched'])
    expect([latch.destination, latch.trust]).toEqual([from, trust])
    expect(stream(latch, from, { fromMs: 20 })).toEqual(['known'])
  })

  it('nothing else is believed, however long it is sent', () => {
    const latch = signalled(direct)
    expect(new Set(stream(latch, stranger, { toMs: 20_000 }))).toEqual(new Set(['foreign']))
    expect(latch.destination).toEqual(direct)
  })

  it('of a phone behind NAT another address is believed after 2 s, once it has kept one stream for 200 ms', () => {
    const latch = signalled(inNat)
    const verdicts = stream(latch, otherNat, { toMs: 4000 })
    const at = verdicts.indexOf('latched') * 20
    expect(at).toBeGreaterThanOrEqual(2200)
    expect(at).toBeLessThanOrEqual(2240)
    expect(latch.trust).toBe('behind-nat')
  })

  it.each([
    [
      'changes its SSRC',
      (latch: SourceLatch, nowMs: number) =>
        latch.accept(otherNat, { ssrc: nowMs, sequence: nowMs / 20 }, nowMs),
    ],
    [
      'repeats one packet',
      (latch: SourceLatch, nowMs: number) => latch.accept(otherNat, { ssrc: 1, sequence: 1 }, nowMs),
    ],
    [
      'counts over many ports',
      (latch: SourceLatch, nowMs: number) =>
        latch.accept(otherNat, { ssrc: 1, sequence: (nowMs * 10) & 0xffff }, nowMs),
    ],
    [
      'pauses between packets',
      (latch: SourceLatch, nowMs: number) =>
        nowMs % 120 === 0 ? latch.accept(otherNat, { ssrc: 1, sequence: nowMs / 120 }, nowMs) : 'foreign',
    ],
  ])('one that %s is never believed', (_name, send) => {
    const latch = signalled(inNat)
    for (let nowMs = 0; nowMs < 10_000; nowMs += 20) expect(send(latch, nowMs)).toBe('foreign')
  })

  it('a phone that is heard within 2 s is not accepted from elsewhere', () => {
    const latch = signalled(inNat)
    stream(latch, nat, { fromMs: 1000 })
    expect(new Set(stream(latch, otherNat, { fromMs: 1020, toMs: 9000, ssrc: 99 }))).toEqual(
      new Set(['foreign']),
    )
  })

  it('many strangers spraying at the same time do not keep the phone out', () => {
    const latch = signalled(inNat)
    const verdicts: Verdict[] = []
    for (let nowMs = 0; nowMs < 10_000; nowMs += 20) {
      for (let port = 1; port <= 6; port += 1)
        latch.accept({ ...stranger, port }, { ssrc: nowMs, sequence: 1 }, nowMs)
      verdicts.push(latch.accept(otherNat, { ssrc: 1, sequence: nowMs / 20 }, nowMs))
    }
    expect(verdicts).toContain('latched')
  })
})

describe('a place that may not be sent to', () => {
  it('is neither sent to nor believed, and the phone that named it is', () => {
    const latch = new SourceLatch()
    latch.signal({ remote: inNat, isBarred: true, peer: sip }, 0)
    expect(latch.destination).toBeUndefined()
    expect(stream(latch, inNat)).toEqual(['foreign'])
    expect(latch.isNamed(inNat.address)).toBe(false)
    expect(stream(latch, nat, { fromMs: 20 })).toEqual(['latched'])
    const elsewhere = new SourceLatch()
    elsewhere.signal({ remote: inNat, isBarred: true, peer: sip }, 0)
    expect(stream(elsewhere, otherNat, { toMs: 4000 })).toContain('latched')
  })
})

describe('a latched source', () => {
  it.each([
    ['the place in the SDP', direct, direct],
    ['the address of signalling', inNat, nat],
    ['an address that nothing named', inNat, otherNat],
  ])('that is %s keeps the stream through any silence', (_name, remote, from) => {
    const latch = signalled(remote)
    stream(latch, from, { toMs: 3000 })
    expect(latch.destination).toEqual(from)
    for (const other of [stranger, { ...from, port: 5 }])
      expect(new Set(stream(latch, other, { fromMs: 3020, toMs: 63_000, ssrc: 99 }))).toEqual(
        new Set(['foreign']),
      )
    expect(stream(latch, from, { fromMs: 64_000 })).toEqual(['known'])
  })

  it('gives way at once to a place of more trust', () => {
    const latch = signalled(inNat)
    stream(latch, otherNat, { toMs: 3000 })
    expect(latch.trust).toBe('behind-nat')
    expect(stream(latch, nat, { fromMs: 3020 })).toEqual(['latched'])
    expect(stream(latch, inNat, { fromMs: 3040 })).toEqual(['latched'])
    expect(stream(latch, nat, { fromMs: 3060 })).toEqual(['foreign'])
  })

  it('is followed to a new address when SSRC and sequence go on after 200 ms, and not drawn back by late packets', () => {
    const latch = signalled(inNat)
    stream(latch, nat, { ssrc: 7, toMs: 1000 })
    const moved = { address: '192.88.99.1', port: 7 }
    const at = (sequence: number, nowMs: number): Verdict => latch.accept(moved, { ssrc: 7, sequence }, nowMs)
    expect(at(51, 1020)).toBe('foreign')
    expect(at(50_000, 1400)).toBe('foreign')
    expect(at(40, 1400)).toBe('foreign')
    expect(at(70, 1400)).toBe('latched')
    expect(latch.trust).toBe('same-stream')
    expect(latch.accept(nat, { ssrc: 7, sequence: 51 }, 1420)).toBe('foreign')
  })
})

describe('a new offer', () => {
  it('with another place is believed at once, whatever was latched', () => {
    const latch = signalled(inNat)
    stream(latch, nat)
    latch.signal({ remote: direct, isBarred: false, peer: sip }, 100)
    expect(latch.destination).toEqual(direct)
    latch.signal({ remote: undefined, isBarred: false, peer: sip }, 200)
    expect(latch.destination).toEqual(direct)
  })

  it('with the same place lets a phone come back with another stream from another port, until it is heard', () => {
    const latch = signalled(inNat)
    stream(latch, nat)
    latch.signal({ remote: inNat, isBarred: false, peer: sip }, 60_000)
    expect(latch.destination).toEqual(nat)
    const rebound = { ...nat, port: 62_000 }
    expect(stream(latch, rebound, { fromMs: 60_100 })).toEqual(['latched'])
    expect(stream(latch, { ...nat, port: 63_000 }, { fromMs: 60_200 })).toEqual(['foreign'])
    latch.signal({ remote: inNat, isBarred: false, peer: sip }, 70_000)
    expect(stream(latch, rebound, { fromMs: 70_000 })).toEqual(['known'])
    expect(stream(latch, nat, { fromMs: 70_020 })).toEqual(['foreign'])
  })

  it('opens nothing to places that neither SDP nor signalling names', () => {
    const latch = signalled(inNat)
    stream(latch, nat)
    latch.signal({ remote: inNat, isBarred: false, peer: sip }, 60_000)
    expect(new Set(stream(latch, stranger, { fromMs: 60_000, toMs: 80_000 }))).toEqual(new Set(['foreign']))
  })
})
