import { describe, expect, it } from 'vitest'
import { createFakeClock } from '../../../test/support/fake-clock.ts'
import { createGuessLimit } from './guess-limit.ts'

const guess = { address: '198.51.100.7', port: 5060, realm: 'a.example', username: 'alice' }

describe('the limit of guesses', () => {
  it('closes after ten failures, and opens again for one try a minute', () => {
    const clock = createFakeClock()
    const guesses = createGuessLimit(clock)
    for (let count = 0; count < 10; count++) {
      expect(guesses.mayTry(guess)).toBe(true)
      guesses.failed(guess)
    }
    expect(guesses.mayTry(guess)).toBe(false)
    clock.advance(60_000)
    expect(guesses.mayTry(guess)).toBe(true)
    guesses.failed(guess)
    expect(guesses.mayTry(guess)).toBe(false)
  })

  it('keeps users of one source apart, and one user at two sources', () => {
    const guesses = createGuessLimit(createFakeClock())
    for (let count = 0; count < 10; count++) guesses.failed(guess)
    expect(guesses.mayTry({ ...guess, username: 'bob' })).toBe(true)
    expect(guesses.mayTry({ ...guess, realm: 'b.example' })).toBe(true)
    expect(guesses.mayTry({ ...guess, address: '198.51.100.8' })).toBe(true)
  })

  it('closes for all names of a source that was never right after 50 failures, and opens for five a minute', () => {
    const clock = createFakeClock()
    const guesses = createGuessLimit(clock)
    const names = Array.from({ length: 60 }, (_, index) => ({ ...guess, username: `user${index}` }))
    const tried = names.filter((name) => {
      const mayTry = guesses.mayTry(name)
      if (mayTry) guesses.failed(name)
      return mayTry
    })
    expect(tried).toHaveLength(50)
    expect(guesses.mayTry({ ...guess, address: '198.51.100.8' })).toBe(true)
    clock.advance(12_000)
    expect(guesses.mayTry(guess)).toBe(true)
  })

  it('holds no failure of others behind the same address against a user who was right there', () => {
    const guesses = createGuessLimit(createFakeClock())
    guesses.succeeded(guess)
    let tried = 0
    for (let index = 0; index < 300; index += 1) {
      const other = { ...guess, username: `user${index}` }
      if (!guesses.mayTry(other)) continue
      guesses.failed(other)
      tried += 1
    }
    expect(tried).toBe(200)
    expect(guesses.mayTry({ ...guess, username: 'new phone' })).toBe(false)
    expect(guesses.mayTry(guess)).toBe(true)
  })

  it('counts wrong passwords from other ports of its address not against a phone that has authenticated', () => {
    const guesses = createGuessLimit(createFakeClock())
    guesses.succeeded(guess)
    const other = { ...guess, port: 5062 }
    for (let count = 0; count < 50; count++) guesses.failed(other)
    expect(guesses.mayTry(other)).toBe(false)
    expect(guesses.mayTry(guess)).toBe(true)
    for (let count = 0; count < 10; count++) guesses.failed(guess)
    expect(guesses.mayTry(guess)).toBe(false)
  })

  it('has a ceiling for one user over all networks of IPv6, and leaves the user alone where it was right', () => {
    const guesses = createGuessLimit(createFakeClock())
    guesses.succeeded(guess)
    let tried = 0
    for (let index = 0; index < 65_536; index += 64) {
      const from = { ...guess, address: `2001:db8:0:${index.toString(16)}::1` }
      for (let count = 0; count < 10 && guesses.mayTry(from); count += 1) {
        guesses.failed(from)
        tried += 1
      }
    }
    expect(tried).toBe(100)
    expect(guesses.mayTry(guess)).toBe(true)
    expect(guesses.mayTry({ ...guess, username: 'bob' })).toBe(true)
  })

  it('wants a record of 60 refusals of a realm an hour that no password was asked for', () => {
    const clock = createFakeClock()
    const guesses = createGuessLimit(clock)
    const recorded = Array.from({ length: 500 }, () => guesses.isWorthRecord('a.example')).filter(Boolean)
    expect(recorded).toHaveLength(60)
    expect(guesses.isWorthRecord('b.example')).toBe(true)
    clock.advance(60_000)
    expect(guesses.isWorthRecord('a.example')).toBe(true)
  })

  it.each([
    ['203.0.113.1', '203.0.113.2', false],
    ['203.0.113.1', '::ffff:203.0.113.1', true],
    ['2001:db8::1', '2001:db8::ffff:2', true],
    ['2001:db8::1', '2001:db8:0:1::1', false],
  ])('takes %s and %s for one source: %s', (one, other, isOne) => {
    const guesses = createGuessLimit(createFakeClock())
    for (let count = 0; count < 10; count++) guesses.failed({ ...guess, address: one })
    expect(guesses.mayTry({ ...guess, address: other })).toBe(!isOne)
  })
})
