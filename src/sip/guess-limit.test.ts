import { describe, expect, it } from 'vitest'
import { createFakeClock } from '../lib/fake-clock.ts'
import { createGuessLimit } from './guess-limit.ts'

const guess = { address: '198.51.100.7', realm: 'a.example', username: 'alice' }

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

  it('stops recording a source that was refused 200 times, whatever users it named', () => {
    const guesses = createGuessLimit(createFakeClock())
    for (let count = 0; count < 200; count++) expect(guesses.isWorthRecord(guess.address)).toBe(true)
    expect(guesses.isWorthRecord(guess.address)).toBe(false)
    expect(guesses.isWorthRecord('198.51.100.8')).toBe(true)
    expect(guesses.mayTry(guess)).toBe(true)
  })

  it.each([
    ['203.0.113.1', '203.0.113.2', false],
    ['203.0.113.1', '::ffff:203.0.113.1', true],
    ['2001:db8::1', '2001:db8::ffff:2', true],
    ['2001:db8::1', '2001:db8:0:1::1', false],
  ])('takes %s and %s for one source: %s', (one, other, isOne) => {
    const guesses = createGuessLimit(createFakeClock())
    for (let count = 0; count < 10; count++) guesses.failed({ ...guess, address: one })
    for (let count = 0; count < 200; count++) guesses.isWorthRecord(one)
    expect(guesses.mayTry({ ...guess, address: other })).toBe(!isOne)
    expect(guesses.isWorthRecord(other)).toBe(!isOne)
  })
})
