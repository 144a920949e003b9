import { describe, expect, it } from 'vitest'
import { compilePattern } from './pattern.ts'

const patterns = [
  '',
  'a',
  'ab',
  'a|b',
  '|a',
  '^a',
  'a$',
  '^$',
  '^(a|b)+$',
  'a*',
  '^a*$',
  '^a+b?$',
  '^(ab)*$',
  '^(?:a|bb){2,3}$',
  '^a{2}$',
  '^a{1,}$',
  '^a{0}b$',
  '^(a*)*$',
  '^(a?)*b$',
  '^(a|)+b$',
  '^a{1,2}?b',
  '.',
  '^.b',
  '[ab]1',
  '[^a]',
  '^[a-b]+$',
  '[-a]1',
  '[a-]1',
  '[\\d.]a',
  '^\\d+$',
  '\\D\\d',
  '\\W',
  '^\\w*$',
  '\\.',
  '^1[ab.]',
  '^\\+?1',
  '(^a|b$)1?',
]

function* texts(length: number): Generator<string> {
  yield ''
  if (length === 0) return
  for (const rest of texts(length - 1)) for (const char of 'ab1.') yield char + rest
}

describe('a pattern', () => {
  it.each(patterns)('%s matches what the regular expression does', (text) => {
    const pattern = compilePattern(text)
    const expression = new RegExp(text)
    const all = new Set(texts(5))
    const wrong = [...all].filter((candidate) => pattern?.matches(candidate) !== expression.test(candidate))
    expect(all.size).toBe(1365)
    expect(wrong).toEqual([])
  })

  it.each([
    ['(', 'an open group'],
    [')', 'a group that is only closed'],
    ['[a', 'an open class'],
    ['[b-a]', 'a range that runs backwards'],
    ['*', 'nothing to repeat'],
    ['a**', 'a repetition of one'],
    ['a{2,1}', 'a count that runs backwards'],
    ['a\\', 'an escape of nothing'],
    ['(a)\\1', 'a reference back'],
    ['(?=a)', 'a look ahead'],
    ['(?<!a)b', 'a look behind'],
    ['[]', 'a class of nothing'],
    ['^((((){99999}){99999}){99999}){99999}$', 'a repetition of nothing, without end'],
    ['(a{99}){99}', 'more repetitions than are taken'],
    ['a{999999999}', 'more repetitions than are taken, in one count'],
  ])('%s is none: %s', (text) => {
    expect(compilePattern(text)).toBeUndefined()
  })

  // Backtracking would take longer than the age of the world for each of these.
  it.each([
    ['^(a+)+$', `${'a'.repeat(10_000)}b`],
    ['^(a|a)*$', `${'a'.repeat(10_000)}b`],
    [`^${'a?'.repeat(40)}${'a'.repeat(40)}$`, 'a'.repeat(39)],
    ['^(.*)(.*)(.*)(.*)(.*)(.*)x$', 'a'.repeat(10_000)],
  ])('%s comes to an end', (text, candidate) => {
    expect(compilePattern(text)?.matches(candidate)).toBe(false)
  })
})
