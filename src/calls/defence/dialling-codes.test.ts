// Codes before a number, operators and contexts: none hides a closed number, none closes an ordinary one.
import { describe, expect, it } from 'vitest'
import { combine, noChoices } from './defence-settings.ts'
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
    ['44', '141*6709098790000'],
    ['44', '14119005550100'],
    ['44', '147019005550100'],
    ['44', '+09098790000'],
    ['44', '#31#1410909879000'],
    ['64', '019709001234'],
    ['1', '*82*6719005550100'],
    ['1', '*82*679005550100'],
    ['1', '*82#6719005550100'],
    ['1', '#31#*6719005550100'],
    ['1', '*31#*67*8219005550100'],
    ['1', '*67*67*67*67*67*67*67*67*67*6719005550100'],
    ['1', '1010288*6719005550100'],
    ['1', '*671010288*8219005550100'],
    ['1', '10102881010321*6719005550100'],
    ['1', '*82*67x19005550100'],
    ['1', '*82%2A6719005550100'],
    ['1', '116719005550100'],
    ['1', '11829005550100'],
    ['1', '1182116719005550100'],
    [null, '*82*6719005550100'],
    [null, '116719005550100'],
    ['1', '09005550100'],
    ['1', '009005550100'],
    ['1', '019005550100'],
    ['1', '0-900-555-0100'],
    ['1', '101028809005550100'],
    ['1', '*6709005550100'],
    ['1', '0100979123456789'],
    ['1', '01979123456789'],
    ['1', '01000979123456789'],
    ['1', '0110979123456789'],
    [null, '5550100;phone-context=+1900'],
    [null, '5550100;phone-context=+1-900'],
    [null, '5550100;Phone-Context=%2B1900'],
    [null, '5550100;phone-context=%252B1900'],
    [null, '5550100;phone-context=1900'],
    [null, '555-0100;isub=1;phone-context=+1900;npdi'],
    ['44', '5550100;phone-context=+1900'],
    [null, '9098790000;phone-context=+44'],
    [null, '09098790000;phone-context=+44'],
    [null, '1410909879000;phone-context=+44'],
    [null, '*679005550100;phone-context=+1'],
    [null, '19005550100;phone-context=+1'],
  ])('in the country %s: %s is closed', (country, text) => {
    // *670… is also Timor-Leste.
    expect(closed(country, text, true)).toBe('premium_rate')
  })

  it.each([
    ['49', '*31#*675352345678'],
    ['49', '1010288*67+5352345678'],
    ['1', '*82*670115352345678'],
    ['1', '010053512345678'],
  ])('in the country %s: %s is closed, too', (country, text) => {
    expect(closed(country, text)).toBe('high_risk')
  })

  it('is closed behind any number of codes, as is a text that is longer than any number', () => {
    for (const count of [2, 5, 9, 15, 17, 100])
      expect(closed('1', `${'*67'.repeat(count)}19005550100`)).toBeDefined()
    expect(closed('1', `${'*67'.repeat(100)}12125550100`)).toContain('longer than a number')
  })
})

it('a text with many contexts is read quickly, by the first and the last', () => {
  const many = Array.from({ length: 4_000 }, (_, at) => `;phone-context=+4420${at}`).join('')
  const began = performance.now()
  expect(closed('44', `5550100${many};phone-context=+1900`)).toBe('premium_rate')
  expect(closed('44', `5550100;phone-context=+1900${many}`)).toBe('premium_rate')
  expect(performance.now() - began).toBeLessThan(5_000)
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
    ['1', '*6712125550100'],
    ['1', '*82*6712125550100'],
    ['1', '1010288*6712125550100'],
    ['1', '116712125550100'],
    ['1', '101028802125550100'],
    [null, '14105550100'],
    [null, '14109001234'],
    [null, '2125550100'],
    [null, '01414960000'],
    [null, '5550100;phone-context=+1212'],
    [null, '2079460958;phone-context=+44'],
    [null, '02079460958;phone-context=+44'],
    [null, '5550100;phone-context=example.com'],
    [null, '12125550100;phone-context=+1'],
    // The mark ends the code: the rest is a number of Brunswick, and not a number of Cuba after a code 49.
    ['44', '*31#495312345678'],
    ['44', '#31#495312345678'],
    ['44', '*31*495312345678'],
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
  const codes = ['*67', '*82', '*70', '#31#', '*31#', '1010288', '1167']
  const rows = codes.flatMap((first) =>
    codes.flatMap((second) => [...codes, ''].map((third) => `${first}${second}${third}`)),
  )

  it.each(['1', null])('hide no closed number, and close no ordinary one, in the country %s', (country) => {
    const numbers = ['19005550100', '9005550100', '011881612345678', '+881612345678']
    const open = ['12125550100', '2125550100', '011442079460958', '+442079460958', '14105550100']
    const wrong = rows.flatMap((row) => [
      ...numbers.map((number) => `${row}${number}`).filter((text) => closed(country, text) === undefined),
      ...open.map((number) => `${row}${number}`).filter((text) => closed(country, text, true) !== undefined),
    ])
    expect(wrong).toEqual([])
  })
})
