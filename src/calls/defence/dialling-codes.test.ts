// Codes before a number, operators and contexts: none hides a closed number, none closes an ordinary one.
import { describe, expect, it } from 'vitest'
import { combine, noChoices } from '../defence-settings.ts'
import { closedDestination } from './judge-destination.ts'

function closed(country_code: string | null, text: string, high_risk = false): string | undefined {
  const allow = { ...noChoices.allow, high_risk }
  const found = closedDestination(text, combine(noChoices, { ...noChoices, country_code, allow }))
  return found && (found.class ?? found.because)
}

describe('a closed number', () => {
  it.each([
    ['44', '14109098790000'],
    ['44', '1410909879000'],
    ['44', '141 0909 879 0000'],
    ['44', '14700909879000'],
    ['44', '14114709098790000'],
    ['44', '14114700909879000'],
    ['44', '14119005550100'],
    ['44', '147019005550100'],
    ['64', '019709001234'],
    ['1', '116719005550100'],
    ['1', '11829005550100'],
    ['1', '1182116719005550100'],
    [null, '116719005550100'],
    ['1', '09005550100'],
    ['1', '009005550100'],
    ['1', '019005550100'],
    ['1', '0-900-555-0100'],
    ['1', '101028809005550100'],
    ['1', '0100979123456789'],
    ['1', '01979123456789'],
    ['1', '01000979123456789'],
    ['1', '0110979123456789'],
  ])('in the country %s: %s is closed', (country, text) => {
    // *670… is also Timor-Leste.
    expect(closed(country, text, true)).toBe('premium_rate')
  })

  it.each([['1', '010053512345678']])('in the country %s: %s is closed, too', (country, text) => {
    expect(closed(country, text)).toBe('high_risk')
  })

  it('is closed behind as many codes as a number has room for', () => {
    for (const count of [1, 2, 3, 5]) expect(closed('1', `${'1167'.repeat(count)}19005550100`)).toBeDefined()
  })
})

describe('an ordinary number', () => {
  it.each([
    ['44', '01414960000'],
    ['44', '0141 496 0000'],
    ['44', '4960000'],
    ['44', '02079460958'],
    ['44', '+441414960000'],
    ['44', '441414960000'],
    ['44', '14102079460958'],
    ['44', '14101414960000'],
    ['44', '147002079460958'],
    ['44', '14105550100'],
    ['44', '14109550100'],
    ['1', '14105550100'],
    ['1', '14109550100'],
    ['1', '4105550100'],
    ['1', '2125550100'],
    ['1', '12125550100'],
    ['1', '02125550100'],
    ['1', '011442079460958'],
    ['1', '01442079460958'],
    ['1', '116712125550100'],
    ['1', '101028802125550100'],
    [null, '14105550100'],
    [null, '14109001234'],
    [null, '2125550100'],
    [null, '01414960000'],
    ['64', '01970'],
    ['1', '911'],
  ])('in the country %s: %s is open', (country, text) => {
    expect(closed(country, text)).toBeUndefined()
  })

  it('stays one where a prefix of North America is closed and its digits are those of another country', () => {
    const defence = combine(noChoices, {
      ...noChoices,
      country_code: '1',
      closed_prefixes: ['+1473', '+1649'],
    })
    const is = (text: string) => closedDestination(text, defence) !== undefined
    // Norway and New Zealand, then Grenada through an operator.
    expect(['01147312345678', '004731234567', '006491234567', '04734031234'].map(is)).toEqual([
      false,
      false,
      false,
      true,
    ])
  })
})

describe('codes in any order and number', () => {
  const codes = ['1167', '1182', '1010288', '1010321']
  const rows = codes.flatMap((first) => [...codes, ''].map((second) => `${first}${second}`))

  it.each(['1', null])('hide no closed number, and close no ordinary one, in the country %s', (country) => {
    const numbers = ['19005550100', '9005550100', '011881612345678']
    const open = ['12125550100', '2125550100', '011442079460958', '14105550100']
    const wrong = rows.flatMap((row) => [
      ...numbers.map((number) => `${row}${number}`).filter((text) => closed(country, text) === undefined),
      ...open.map((number) => `${row}${number}`).filter((text) => closed(country, text, true) !== undefined),
    ])
    expect(wrong).toEqual([])
  })
})
