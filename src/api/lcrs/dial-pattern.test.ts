import { describe, expect, it } from 'vitest'
import { demandDialPattern } from './dial-pattern.ts'

describe('a dial pattern', () => {
  it.each([
    '^49',
    '.*',
    '^(44|49)\\d+$',
    '^1[2-9]\\d{2}[2-9]\\d{6}$',
    '^\\+?1',
    '^(?:00|011)',
    '[+*(){}]',
    '\\(\\d+\\)+',
    '(1+)+$',
    '.*.*.*.*1',
  ])('may be %s', (pattern) => {
    expect(() => demandDialPattern(pattern, 'regex')).not.toThrow()
  })

  it.each(['(', '*', '[9-0]', '(.)\\1', '(?=1)', '(?<!a)b'])('may not be %s', (pattern) => {
    expect(() => demandDialPattern(pattern, 'regex')).toThrow('regex must be a regular expression')
  })

  it.each(['((1{99}){99}){99}', '((1?|.){33}){29}\\pL', '1{33}'])('may not be as large as %s', (pattern) => {
    expect(() => demandDialPattern(pattern, 'regex')).toThrow('regex is too large a pattern')
  })
})
