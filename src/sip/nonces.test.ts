import { describe, expect, it } from 'vitest'
import { createFakeClock } from '../lib/fake-clock.ts'
import { createNonces } from './nonces.ts'

const realm = 'a.example'

describe('createNonces', () => {
  it('takes a nonce of its own with rising counts', () => {
    const nonces = createNonces({ clock: createFakeClock() })
    const nonce = nonces.issue(realm)
    expect([1, 2, 3, 100].map((count) => nonces.use(nonce, realm, count))).toEqual(Array(4).fill('good'))
  })

  it('calls a count it has seen replayed, also when a later one came in between', () => {
    const nonces = createNonces({ clock: createFakeClock() })
    const nonce = nonces.issue(realm)
    expect([1, 3, 2, 3, 2, 1].map((count) => nonces.use(nonce, realm, count))).toEqual([
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
    const nonce = nonces.issue(realm)
    nonces.use(nonce, realm, 100)
    expect(nonces.use(nonce, realm, 69)).toBe('good')
    expect(nonces.use(nonce, realm, 68)).toBe('replayed')
  })

  it('takes a nonce without a count once', () => {
    const nonces = createNonces({ clock: createFakeClock() })
    const nonce = nonces.issue(realm)
    expect(nonces.use(nonce, realm, undefined)).toBe('good')
    expect(nonces.use(nonce, realm, undefined)).toBe('replayed')
  })

  it('calls a nonce stale when its time is over, whether used before or not', () => {
    const clock = createFakeClock()
    const nonces = createNonces({ clock, lifetimeMs: 60_000 })
    const used = nonces.issue(realm)
    const unused = nonces.issue(realm)
    nonces.use(used, realm, 1)
    clock.advance(60_000)
    expect(nonces.use(used, realm, 2)).toBe('good')
    clock.advance(1)
    expect(nonces.use(used, realm, 3)).toBe('stale')
    expect(nonces.use(unused, realm, 1)).toBe('stale')
  })

  it('calls stale what it has not made: another process, another realm, a changed letter, noise', () => {
    const clock = createFakeClock()
    const nonces = createNonces({ clock })
    const nonce = nonces.issue(realm)
    const changed = (nonce.startsWith('A') ? 'B' : 'A') + nonce.slice(1)
    for (const foreign of [
      createNonces({ clock }).issue(realm),
      changed,
      `${nonce}=`,
      '',
      'x'.repeat(4_000),
    ]) {
      expect(nonces.use(foreign, realm, 1)).toBe('stale')
    }
    expect(nonces.use(nonce, 'b.example', 1)).toBe('stale')
  })

  it('never takes a replay when it had to forget a nonce', () => {
    const clock = createFakeClock()
    const nonces = createNonces({ clock, capacity: 2 })
    const first = nonces.issue(realm)
    nonces.use(first, realm, 1)
    for (let i = 0; i < 3; i += 1) {
      clock.advance(1)
      expect(nonces.use(nonces.issue(realm), realm, 1)).toBe('good')
    }
    expect(nonces.use(first, realm, 1)).toBe('stale')
  })
})
