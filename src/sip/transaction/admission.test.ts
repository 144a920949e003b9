import { describe, expect, it } from 'vitest'
import type { Remote } from '../transport/transports.ts'
import { Admission } from './admission.ts'

const small = new Uint8Array(1_300)
const large = new Uint8Array(9_000)

function at(address: string): Remote {
  return { transport: 'udp', address, port: 5060 }
}

/** Takes room until a request is refused, and returns how many were admitted. */
function fill(admission: Admission, remote: Remote, raw = small, method = 'INVITE'): number {
  for (let taken = 0; taken < 10_000; taken += 1) {
    if (!admission.admits(method, raw, remote)) return taken
    admission.take(raw, remote)
  }
  return Number.POSITIVE_INFINITY
}

const sources = { isProven: ({ address }: Remote) => address.startsWith('192.0.2.') }

describe('the bound of transactions', () => {
  it('is the only limit for a source if there are no facts about sources', () => {
    const admission = new Admission({ maxTransactions: 100, sources: undefined })
    expect(fill(admission, at('203.0.113.1'))).toBe(100)
  })

  it('leaves room for phones and carriers, however many a stranger asks for', () => {
    const admission = new Admission({ maxTransactions: 1_700, sources })
    expect(fill(admission, at('203.0.113.1'))).toBe(100)
    expect(fill(admission, at('192.0.2.1'))).toBe(1_200)
  })

  it('leaves each stranger some of what the others have not taken', () => {
    const admission = new Admission({ maxTransactions: 1_700, sources })
    const taken = Array.from({ length: 20 }, (_, n) => fill(admission, at(`203.${n}.113.1`)))
    expect(taken.every((count) => count > 0)).toBe(true)
    expect(taken).toEqual(taken.toSorted((a, b) => b - a))
  })

  it('counts the hosts of one IPv6 network as one source', () => {
    const admission = new Admission({ maxTransactions: 1_700, sources })
    expect(fill(admission, at('2001:db8:1:2::1'))).toBe(100)
    expect(fill(admission, at('2001:db8:1:2::2'))).toBe(0)
  })

  it('weighs a request by its size', () => {
    const admission = new Admission({ maxTransactions: 300, sources: undefined })
    expect(fill(admission, at('192.0.2.1'), large)).toBe(100)
  })

  it('lets BYE and CANCEL in a little longer, since they free more than they take', () => {
    const admission = new Admission({ maxTransactions: 100, sources: undefined })
    fill(admission, at('192.0.2.1'))
    expect(admission.admits('INVITE', small, at('192.0.2.1'))).toBe(false)
    // A tenth more, as far as rounding allows.
    expect([10, 11]).toContain(fill(admission, at('192.0.2.1'), small, 'BYE'))
    expect(admission.admits('CANCEL', small, at('192.0.2.1'))).toBe(false)
  })

  it('is free again once what was taken is given back', () => {
    const admission = new Admission({ maxTransactions: 1, sources: undefined })
    const taken = admission.take(small, at('192.0.2.1'))
    expect(admission.admits('OPTIONS', small, at('192.0.2.1'))).toBe(false)
    taken.giveBack()
    expect(admission.admits('OPTIONS', small, at('192.0.2.1'))).toBe(true)
  })
})
