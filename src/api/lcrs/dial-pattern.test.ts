import { describe, expect, it } from 'vitest'
import { quickestMs } from '../../../test/support/cpu.ts'
import { dialPatternFault } from './dial-pattern.ts'

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
    '^a(b)?c',
  ])('may be %s', (pattern) => {
    expect(dialPatternFault(pattern)).toBeUndefined()
  })

  it.each([
    ['(', 'must be a regular expression'],
    ['*', 'must be a regular expression'],
    ['[9-0]', 'must be a regular expression'],
    ['(1+)+$', 'must not repeat a group'],
    ['(1|1)*$', 'must not repeat a group'],
    ['(12){2,}', 'must not repeat a group'],
    ['(.)\\1', 'must not refer back'],
    ['(?=1)', 'must not look around'],
    ['(?<a>1)', 'must not look around'],
    ['.*.*.*.*1', 'must not have more than 3'],
    ['\\d+\\d+\\d{1,}\\d*1', 'must not have more than 3'],
    ['1{0,9}1{0,9}1{0,9}1{0,9}2', 'must not have more than 3'],
  ])('may not be %s', (pattern, rule) => {
    expect(dialPatternFault(pattern)).toContain(rule)
  })

  it('of the worst kind that is let through is matched within milliseconds', () => {
    const pattern = '^\\d*\\d*\\d*x'
    expect(dialPatternFault(pattern)).toBeUndefined()
    const match = (): void => expect(new RegExp(pattern).test('1'.repeat(132))).toBe(false)
    expect(quickestMs(match, 100)).toBeLessThan(100)
  })
})
