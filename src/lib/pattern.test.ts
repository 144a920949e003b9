import { describe, expect, it } from 'vitest'
import { RE2JS } from 're2js'
import { quickestMs } from '../../test/support/cpu.ts'
import { createRandomBelow } from '../../test/support/random.ts'
import { compilePattern, compileInTurns, maxInstructions, patternFault, roughSize } from './pattern.ts'

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

  it.each([
    ['((1?|.){33}){29}\\pL', 'nested repetitions'],
    ['((1?|.){8}){8}1', 'nested repetitions of few'],
    ['(((((a{32}){32}){32}){32}){32}){32}', 'repetitions of repetitions'],
    ['a{33}', 'a repetition of many'],
    ['a{2,33}', 'a repetition of up to many'],
    [`(${'a'.repeat(120)}){9}`, 'a repetition of a long text'],
    [`(\\Q[\\E${'a'.repeat(110)}){9}`, 'a quotation that looks like a class'],
    [`([]"](${'a'.repeat(100)})){9}`, 'a class that looks like an open one'],
    [`([[:alpha:]](${'a'.repeat(100)})){9}`, 'a class that has a named one'],
    ['\\pL', 'a class of Unicode'],
    ['[^\\P{Greek}]', 'a class within a class'],
    [`(?i)${'[B-\\x{1e942}]'.repeat(8)}`, 'wide ranges without case'],
    ['(?i)[B-\u{1e942}]', 'a wide range'],
  ])('%s is too large, which is found before it is compiled: %s', (text) => {
    expect(quickestMs(() => expect(patternFault(text)).toBe('size'), 5)).toBeLessThan(5)
  })

  it.each([
    '^1[2-9]\\d{2}[2-9]\\d{6}$',
    `^(${Array.from({ length: 20 }, (_, index) => `4915${index + 10}`).join('|')})`,
    '[0-9]{5,32}',
    '(1?|.){31}[^x]\\b',
    'büro',
  ])('%s is none too many', (text) => {
    expect(compilePattern(text)?.size).toBeLessThanOrEqual(maxInstructions)
  })

  it('has about as many instructions as are counted before it is compiled, whatever it is made of', () => {
    const below = createRandomBelow(7)
    const parts =
      '1 . a ( ) (?: (?i) | * + ? {3} {2,9} {4,} [ [^ ] - ^ $ \\d \\b \\Q \\E \\] \\( [: :] {'.split(' ')
    const compiled = Array.from({ length: 20_000 }, () => {
      const text = Array.from({ length: 1 + below(16) }, () => parts[below(parts.length)]).join('')
      try {
        return { text, rough: roughSize(text), size: RE2JS.compile(text).programSize() }
      } catch {
        return undefined
      }
    }).filter((one) => one !== undefined)
    expect(compiled.length).toBeGreaterThan(1000)
    expect(compiled.filter(({ rough, size }) => size > 2 * rough + 8)).toEqual([])
  })

  it('matches no text of more than 32 characters, and takes no longer for the costliest pattern', () => {
    const costly = compilePattern('(1?|.){31}[^1]\\b')
    expect(costly?.matches('1'.repeat(31) + 'x')).toBe(true)
    expect(costly?.matches('1'.repeat(32) + 'x')).toBe(false)
    expect(quickestMs(() => costly?.matches('1'.repeat(32)), 5)).toBeLessThan(5)
  })

  it('is compiled once, for as long as a thousand others are not used', async () => {
    const first = compilePattern('^1')
    await compileInTurns(['^2', '^3', '('])
    expect(compilePattern('^1')).toBe(first)
    expect(patternFault('(')).toBe('syntax')
    for (let index = 0; index < 1000; index++) compilePattern(`^4${index}`)
    expect(compilePattern('^1')).not.toBe(first)
  })

  // Backtracking would take longer than the age of the world for each of these.
  it.each([
    ['^(a+)+$', `${'a'.repeat(31)}b`],
    ['^(a|a)*$', `${'a'.repeat(31)}b`],
    [`^${'a?'.repeat(31)}${'a'.repeat(31)}$`, 'a'.repeat(30)],
    ['^(.*)(.*)(.*)(.*)(.*)(.*)x$', 'a'.repeat(32)],
  ])('%s comes to an end', (text, candidate) => {
    expect(compilePattern(text)?.matches(candidate)).toBe(false)
  })
})
