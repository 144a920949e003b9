import { expect, it } from 'vitest'
import { matchesGlob } from './glob.ts'

it.each([
  ['support', 'support', true],
  ['support', 'Support', false],
  ['support', 'sup', false],
  ['support', 'sup*', true],
  ['support', '*port', true],
  ['support', '*p*t', true],
  ['support', 's?pport', true],
  ['support', '?support', false],
  ['support', '*', true],
  ['', '*', true],
  ['', '?', false],
  ['a.b', 'a.b', true],
  ['axb', 'a.b', false],
  ['abcabd', '*abd', true],
  ['support*', 'support', false],
])('whether %j matches %j: %s', (text, pattern, expected) => {
  expect(matchesGlob(text, pattern)).toBe(expected)
})

it('takes no longer for a pattern that nearly matches in many ways', () => {
  const text = 'a'.repeat(2000)
  const started = performance.now()
  expect(matchesGlob(text, `${'a*'.repeat(60)}b`)).toBe(false)
  expect(performance.now() - started).toBeLessThan(200)
})
