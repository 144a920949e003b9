import { describe, expect, it } from 'vitest'
import { numberOf } from '../../../test/support/scripted-engine/carriers.ts'
import { createNumberPattern } from './number-pattern.ts'

describe('a number that stands for many', () => {
  it.each([
    ['1555*', '1555', true],
    ['1555*', '15551230100', true],
    ['1555*', '11555', false],
    ['1555*', '1555x', false],
    ['*', '4930', true],
    ['*', 'anonymous', false],
    ['.*', 'anonymous', true],
    ['^1(555|666)\\d+$', '16661', true],
    ['^1(555|666)\\d+$', '1777', false],
    ['555[0-9]', '4915550', true],
    ['15x*', '1155', true],
  ])('%s and %s: %s', (number, called, expected) => {
    expect(createNumberPattern(numberOf(number, 'c'))?.matches(called)).toBe(expected)
  })

  it.each(['(555', '**', '5(?=5)', '(5)\\1'])('%s cannot be used', (number) => {
    expect(createNumberPattern(numberOf(number, 'c'))).toBeUndefined()
  })

  it('keeps what is known of the number', () => {
    expect(createNumberPattern(numberOf('1555*', 'c'))).toMatchObject(numberOf('1555*', 'c'))
  })
})
