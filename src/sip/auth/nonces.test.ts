import { describe, expect, it } from 'vitest'
import { createFakeClock } from '../../../test/support/fake-clock.ts'
import { createNonces, type Nonces, type NonceScope, type NonceState } from './nonces.ts'

const scope = { realm: 'a.example', address: '198.51.100.7' }

function use(nonces: Nonces, nonce: string, scope: NonceScope, count: number | undefined): NonceState {
  return nonces.fresh(nonce, scope)?.use(count) ?? 'stale'
}

describe('createNonces', () => {
  it('takes a nonce of its own with rising counts', () => {
    const nonces = createNonces({ clock: createFakeClock() })
    const nonce = nonces.issue(scope)
    expect([1, 2, 3, 100].map((count) => use(nonces, nonce, scope, count))).toEqual(Array(4).fill('good'))
  })

  it('calls a count it has seen replayed, also when a later one came in between', () => {
    const nonces = createNonces({ clock: createFakeClock() })
    const nonce = nonces.issue(scope)
    expect([1, 3, 2, 3, 2, 1].map((count) => use(nonces, nonce, scope, count))).toEqual([
      'good',
      'good',
      'good',
      'replayed',
      'replayed',
      'replayed',
    ])
  })

  it('calls a count far behind the highest replayed, since it cannot tell', () => {
    const nonces = createNonces({ clock: createFakeClock() })
    const nonce = nonces.issue(scope)
    use(nonces, nonce, scope, 100)
    expect(use(nonces, nonce, scope, 69)).toBe('good')
    expect(use(nonces, nonce, scope, 68)).toBe('replayed')
  })

  it('takes a nonce without a count once', () => {
    const nonces = createNonces({ clock: createFakeClock() })
    const nonce = nonces.issue(scope)
    expect(use(nonces, nonce, scope, undefined)).toBe('good')
    expect(use(nonces, nonce, scope, undefined)).toBe('replayed')
  })

  it('calls a nonce stale when its time is over, whether used before or not', () => {
    const clock = createFakeClock()
    const nonces = createNonces({ clock, lifetimeMs: 60_000 })
    const used = nonces.issue(scope)
    const unused = nonces.issue(scope)
    use(nonces, used, scope, 1)
    clock.advance(60_000)
    expect(use(nonces, used, scope, 2)).toBe('good')
    clock.advance(1)
    expect(use(nonces, used, scope, 3)).toBe('stale')
    expect(use(nonces, unused, scope, 1)).toBe('stale')
  })

  it('calls stale what it has not made: another process, another realm, a changed letter, noise', () => {
    const clock = createFakeClock()
    const nonces = createNonces({ clock })
    const nonce = nonces.issue(scope)
    const changed = (nonce.startsWith('A') ? 'B' : 'A') + nonce.slice(1)
    for (const foreign of [
      createNonces({ clock }).issue(scope),
      changed,
      `${nonce}=`,
      '',
      'x'.repeat(4_000),
    ]) {
      expect(use(nonces, foreign, scope, 1)).toBe('stale')
    }
    expect(use(nonces, nonce, { ...scope, realm: 'b.example' }, 1)).toBe('stale')
  })

  it.each([
    ['198.51.100.7', '198.51.100.8', false],
    ['198.51.100.7', '::ffff:198.51.100.7', true],
    ['2001:db8::1', '2001:db8::ffff:2', true],
    ['2001:db8::1', '2001:db8:0:1::1', false],
  ])('takes a nonce that was issued to %s from %s: %s', (issuedTo, usedFrom, isGood) => {
    const nonces = createNonces({ clock: createFakeClock() })
    const nonce = nonces.issue({ ...scope, address: issuedTo })
    expect(nonces.fresh(nonce, { ...scope, address: usedFrom }) !== undefined).toBe(isGood)
    expect(use(nonces, nonce, { ...scope, address: usedFrom }, 1)).toBe(isGood ? 'good' : 'stale')
    expect(use(nonces, nonce, { ...scope, address: issuedTo }, 2)).toBe('good')
  })

  it('never takes a replay when it had to forget a nonce', () => {
    const clock = createFakeClock()
    const nonces = createNonces({ clock, capacity: 2 })
    const first = nonces.issue(scope)
    use(nonces, first, scope, 1)
    for (let i = 0; i < 3; i += 1) {
      clock.advance(1)
      expect(use(nonces, nonces.issue(scope), scope, 1)).toBe('good')
    }
    expect(use(nonces, first, scope, 1)).toBe('stale')
  })
})
