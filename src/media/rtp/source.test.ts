import { describe, expect, it } from 'vitest'
import { SourceLatch } from './source.ts'

const signalled = { address: '10.0.0.5', port: 4000 }
const nat = { address: '203.0.113.7', port: 61_000, ssrc: 7 }
const stranger = { address: '198.51.100.1', port: 999, ssrc: 99 }

function latched(): SourceLatch {
  const latch = new SourceLatch()
  latch.signal(signalled)
  latch.accept({ ...nat, sequence: 10, nowMs: 1000 })
  return latch
}

describe('media goes', () => {
  it('where the SDP says until something is heard, then where packets come from', () => {
    const latch = new SourceLatch()
    expect(latch.destination).toBeUndefined()
    latch.signal(signalled)
    expect(latch.destination).toEqual(signalled)
    expect(latch.accept({ ...nat, sequence: 1, nowMs: 0 })).toBe('latched')
    expect(latch.destination).toMatchObject({ address: nat.address, port: nat.port })
    expect(latch.accept({ ...nat, sequence: 2, nowMs: 20 })).toBe('known')
  })

  it('to a new address that signalling names, whoever was latched', () => {
    const latch = latched()
    latch.signal(signalled)
    expect(latch.destination).toMatchObject({ address: nat.address })
    latch.signal({ address: '10.0.0.9', port: 5000 })
    expect(latch.destination).toEqual({ address: '10.0.0.9', port: 5000 })
    latch.signal(undefined)
    expect(latch.destination).toEqual({ address: '10.0.0.9', port: 5000 })
  })
})

describe('a latch', () => {
  it('ignores a stranger while the source speaks', () => {
    const latch = latched()
    for (let nowMs = 1020; nowMs < 20_000; nowMs += 20) {
      latch.accept({ ...nat, sequence: nowMs, nowMs })
      expect(latch.accept({ ...stranger, sequence: nowMs, nowMs })).toBe('foreign')
    }
    expect(latch.destination).toMatchObject({ address: nat.address })
  })

  it('gives way to another source when the latched one is gone', () => {
    const latch = latched()
    expect(latch.accept({ ...stranger, sequence: 1, nowMs: 3999 })).toBe('foreign')
    expect(latch.accept({ ...stranger, sequence: 1, nowMs: 4000 })).toBe('latched')
  })

  it('follows the same stream to a new address after a short silence', () => {
    const latch = latched()
    const moved = { ...nat, port: 61_001 }
    expect(latch.accept({ ...moved, sequence: 11, nowMs: 1020 })).toBe('foreign')
    expect(latch.accept({ ...moved, sequence: 60_000, nowMs: 1400 })).toBe('foreign')
    expect(latch.accept({ ...moved, sequence: 25, nowMs: 1400 })).toBe('latched')
  })

  it('returns to the signalled address at once', () => {
    const latch = new SourceLatch()
    latch.signal(signalled)
    latch.accept({ ...stranger, sequence: 1, nowMs: 0 })
    expect(latch.accept({ ...signalled, ssrc: 7, sequence: 1, nowMs: 20 })).toBe('latched')
    expect(latch.accept({ ...stranger, sequence: 2, nowMs: 40 })).toBe('foreign')
  })
})
