import { describe, expect, it } from 'vitest'
import { quickestMs } from '../../../test/support/cpu.ts'
import { combine, noChoices, type DefenceChoices } from '../defence-settings.ts'
import { numberRanges } from '../destination-classes.ts'
import { closedDestination } from './judge-destination.ts'

const defenceOf = (account: Partial<DefenceChoices> = {}, provider: Partial<DefenceChoices> = {}) =>
  combine({ ...noChoices, ...provider }, { ...noChoices, ...account })

function closed(
  text: string,
  account: Partial<DefenceChoices> = {},
  provider: Partial<DefenceChoices> = {},
): string | undefined {
  const found = closedDestination(text, defenceOf(account, provider))
  return found && (found.class ?? found.because)
}

it.each(['1', '+', '0', '9', '1;rn=+1', '('])('judges a text of many %j in linear time', (text) => {
  const long = text.repeat(20_000)
  expect(quickestMs(() => closed(long), 100)).toBeLessThan(100)
})

const allow = (changes: Partial<DefenceChoices['allow']>) => ({ allow: { ...noChoices.allow, ...changes } })

describe('a number of a closed class', () => {
  it.each([
    ['+881612345678', 'satellite'],
    ['00881612345678', 'satellite'],
    ['881612345678', 'satellite'],
    ['011881612345678', 'satellite'],
    ['0011881612345678', 'satellite'],
    ['000881612345678', 'satellite'],
    ['+88 16-12.34(56)78', 'satellite'],
    ['+19005550100', 'premium_rate'],
    ['19005550100', 'premium_rate'],
    ['9005550100', 'premium_rate'],
    ['0900123456', 'premium_rate'],
    ['+979123456789', 'premium_rate'],
    ['+449098790000', 'premium_rate'],
    ['+499001234567', 'premium_rate'],
    ['+440909879000', 'premium_rate'],
    ['004900900123456', 'premium_rate'],
    ['+330899123456', 'premium_rate'],
    ['+788091234567', 'premium_rate'],
    ['+360690123456', 'premium_rate'],
    ['+119005550100', 'premium_rate'],
    ['+109005550100', 'premium_rate'],
    ['+370890012345', 'premium_rate'],
    ['+33899123456', 'premium_rate'],
    ['+5352345678', 'high_risk'],
    ['0025261234567', 'high_risk'],
  ])('is closed as %s', (text, name) => {
    expect(closed(text)).toBe(name)
  })

  it.each([
    ['1', '018811234567', 'satellite'],
    ['1', '1010288018811234567', 'satellite'],
    ['44', '09098790000', 'premium_rate'],
    ['61', '1900123456', 'premium_rate'],
    ['61', '1902123456', 'premium_rate'],
    ['61', '01902123456', 'premium_rate'],
    ['33', '0899123456', 'premium_rate'],
    ['34', '806123456', 'premium_rate'],
    ['39', '899123456', 'premium_rate'],
    ['1', '19005550100', 'premium_rate'],
    ['1', '9005550100', 'premium_rate'],
    ['7', '88031234567', 'premium_rate'],
    ['36', '0690123456', 'premium_rate'],
    ['81', '010881612345678', 'satellite'],
    ['49', '5352345678', 'high_risk'],
  ])('is closed in the country %s as %s', (country_code, text, name) => {
    expect(closed(text, { country_code })).toBe(name)
  })
})

describe('a number behind a code that chooses a carrier', () => {
  it.each([
    [undefined, '101028819005551234', 'premium_rate'],
    [undefined, '10102889005551234', 'premium_rate'],
    [undefined, '1010288-011-53-5234-5678', 'high_risk'],
    [undefined, '1010288018811234567', 'satellite'],
    ['1', '10102889005551234', 'premium_rate'],
    ['1', '10102880115352345678', 'high_risk'],
    ['44', '101028819005551234', 'premium_rate'],
    ['43', '10010900123456', 'premium_rate'],
    ['31', '161200535234567', 'high_risk'],
    ['41', '107410900123456', 'premium_rate'],
    ['49', '010130900123456', 'premium_rate'],
    ['49', '0103300535234567', 'high_risk'],
    ['49', '01005700535234567', 'high_risk'],
    ['61', '18311902123456', 'premium_rate'],
    ['61', '18321902123456', 'premium_rate'],
    ['353', '1550123456', 'premium_rate'],
    ['353', '1580123456', 'premium_rate'],
    ['370', '890012345', 'premium_rate'],
  ])('in the country %s: %s is closed as %s', (country_code, text, name) => {
    expect(closed(text, country_code === undefined ? {} : { country_code })).toBe(name)
  })

  it.each([
    [undefined, '101028815551230100'],
    ['1', '1010288011442079460958'],
    ['1', '10155501234'],
    // China, and not 1 868 after the 01 of an operator.
    ['1', '0118685512345678'],
    ['49', '01013030123456'],
    ['45', '10190012'],
  ])('in the country %s: %s is open', (country_code, text) => {
    expect(closed(text, country_code === undefined ? {} : { country_code })).toBeUndefined()
  })
})

describe('a number with separators', () => {
  it.each([
    '+44(0)9091234567',
    '0049(0)900123456',
    '\u200b+1 900 555\u00a00100',
    '\u202a+1.900-555-0100\u202c',
  ])('is closed as %j', (text) => {
    expect(closed(text)).toBe('premium_rate')
  })
})

describe('a text that is not a number', () => {
  it.each([
    '141*6709098790000',
    '+09098790000',
    '#31#1410909879000',
    '*82*6719005550100',
    '*82*679005550100',
    '*82#6719005550100',
    '#31#*6719005550100',
    '*31#*67*8219005550100',
    '*67*67*67*67*67*67*67*67*67*6719005550100',
    '1010288*6719005550100',
    '*671010288*8219005550100',
    '10102881010321*6719005550100',
    '*82*67x19005550100',
    '*82%2A6719005550100',
    '*6709005550100',
    '5550100;phone-context=+1900',
    '5550100;phone-context=+1-900',
    '5550100;Phone-Context=%2B1900',
    '5550100;phone-context=%252B1900',
    '5550100;phone-context=1900',
    '555-0100;isub=1;phone-context=+1900;npdi',
    '9098790000;phone-context=+44',
    '09098790000;phone-context=+44',
    '1410909879000;phone-context=+44',
    '*679005550100;phone-context=+1',
    '19005550100;phone-context=+1',
    '*31#*675352345678',
    '1010288*67+5352345678',
    '*82*670115352345678',
    '*6712125550100',
    '*82*6712125550100',
    '1010288*6712125550100',
    '5550100;phone-context=+1212',
    '2079460958;phone-context=+44',
    '02079460958;phone-context=+44',
    '5550100;phone-context=example.com',
    '12125550100;phone-context=+1',
    '*31#495312345678',
    '#31#495312345678',
    '*31*495312345678',
    '+00881612345678',
    'tel:+881612345678;phone-context=x',
    '＋８８１６12345678',
    '*31#+881612345678',
    '#31#00881612345678',
    '*6719005550100',
    '*67+9791234567',
    '00+881612345678',
    '++881612345678',
    '+101028819005551234',
    '*67101028801188161234567',
    '*67+19005551234',
    '+19005551234x',
    '+19005551234,1',
    '+19005551234&+15550100',
    '+15550100&+19005551234',
    '&19005551234',
    'w19005551234',
    '+1:9005551234',
    '+1900_5551234',
    '+1900#5551234',
    '+19005551234?x=y',
    '+1900ABCDEFG',
    '+1-900-CALL-NOW',
    '+[1900]5551234',
    '+%31900555123%34',
    '+%2531900555123%2534',
    'x9005551234y999999',
    '*6719005551234!',
    'queue-19005551234',
    'alice;ext=+19005551234',
    '+1-800-FLOWERS',
    '*31#',
    '9,0019005550100',
    '9p0019005550100',
    '9w0019005550100',
    '15551234567&0019005550100',
    '15551234567|19005550100',
    '15551234567^19005550100',
    '+4420\u0661',
    '+44\u00002079460958',
    '+4420%00',
    '1#19005550100',
    'alice',
    'customer-service',
    '+',
    '',
  ])('may not be called, though everything is open: %j', (text) => {
    const open = defenceOf({ open_prefixes: ['+'] })
    expect(closedDestination(text, open)).toMatchObject({ isUnreadable: true })
  })
})

describe('a closed number behind the digits for a line of a private exchange', () => {
  it.each(['90019005550100', '99900881612345678', '9990019005550100', '9011881612345678', '000019005550100'])(
    'is closed as %s',
    (text) => {
      expect(closed(text)).toMatch(/premium_rate|satellite/)
    },
  )

  it.each(['+905352345678', '905352345678', '88005551234', '8005551234', '90442079460958'])(
    'does not close the ordinary number %s',
    (text) => {
      expect(closed(text)).toBeUndefined()
    },
  )
})

describe('an ordinary number', () => {
  it.each([
    '+15551230100',
    '15551230100',
    '5551230100',
    '8705551234',
    '2525551234',
    '+442079460958',
    '00493012345678',
    '0893012345',
    '0301234567',
    '0881123456',
    '+5511912345678',
    '+8613812345678',
    '+2348012345678',
    '+37121234567',
    '12025550123',
    '112',
    '911',
    '8810',
    '11833',
    '+44 (0)20 7946 0958',
    '+15551230100;npdi',
  ])('is open as %s', (text) => {
    expect(closed(text)).toBeUndefined()
  })

  it.each([
    ['49', '0881123456'],
    ['49', '08999990'],
    ['34', '881123456'],
    ['1', '8705551234'],
    ['39', '0118821234'],
    ['39', '0899123456'],
    ['7', '84951234567'],
  ])('of the country %s is open as %s', (country_code, text) => {
    expect(closed(text, { country_code })).toBeUndefined()
  })
})

describe('what opens and closes', () => {
  const thuraya = '+8821612345678'

  it('is the class, which the account opens unless its provider forbids it', () => {
    expect(closed(thuraya, allow({ satellite: true }))).toBeUndefined()
    expect(closed(thuraya, {}, allow({ satellite: true }))).toBeUndefined()
    expect(closed(thuraya, allow({ satellite: true }), allow({ satellite: false }))).toBe('satellite')
    expect(closed(thuraya, allow({ satellite: false }), allow({ satellite: true }))).toBe('satellite')
    expect(closed('+19005550100', allow({ satellite: true }))).toBe('premium_rate')
  })

  it('is the longest prefix', () => {
    expect(closed(thuraya, { open_prefixes: ['+88216'] })).toBeUndefined()
    expect(closed('+8821312345678', { open_prefixes: ['+88216'] })).toBe('satellite')
    expect(closed('+491711234567', { closed_prefixes: ['+49'], open_prefixes: ['+49171'] })).toBeUndefined()
    expect(closed('+491711234567', { closed_prefixes: ['+49'], open_prefixes: ['+49'] })).toContain('+49')
  })

  it('is that of the provider before that of the account', () => {
    expect(closed(thuraya, { open_prefixes: ['+88216'] }, allow({ satellite: false }))).toBe('satellite')
    expect(closed(thuraya, {}, { open_prefixes: ['+88216'] })).toBeUndefined()
    expect(closed('+4930', { open_prefixes: ['+4930'] }, { closed_prefixes: ['+49'] })).toContain('+49')
  })

  it('is the country of the provider beside that of the account', () => {
    const forbidding = allow({ premium_rate: false })
    expect(closed('9005551234', { country_code: '44' })).toBeUndefined()
    expect(closed('9005551234', { country_code: '44' }, { country_code: '1' })).toBe('premium_rate')
    expect(closed('9005551234', { country_code: '44' }, forbidding)).toBe('premium_rate')
    expect(closed('09098790000', { country_code: '44' }, { country_code: '1' })).toBe('premium_rate')
    expect(closed('9005551234', {}, { country_code: '44' })).toBeUndefined()
  })

  it('may close all but one country, also for numbers of no known country', () => {
    const only = { closed_prefixes: ['+'], open_prefixes: ['+49'], country_code: '49' }
    expect(['+493012345', '00493012345', '03012345'].map((text) => closed(text, only))).toEqual([
      undefined,
      undefined,
      undefined,
    ])
    expect(closed('+442079460958', only)).toContain('prefix +')
    expect(closed('03012345', { ...only, country_code: null })).toContain('prefix +')
  })
})

it('no range is listed twice', () => {
  const prefixes = numberRanges.map(({ prefix }) => prefix)
  expect(new Set(prefixes).size).toBe(prefixes.length)
})

describe('the limits of an account', () => {
  it('are those of its provider, at most', () => {
    const limits = (own: number | null, ceiling: number | null) =>
      defenceOf({ calls_per_minute: own }, { calls_per_minute: ceiling }).limits.calls_per_minute
    expect([limits(null, null), limits(500, null), limits(0, null)]).toEqual([300, 500, Infinity])
    expect([limits(null, 50), limits(500, 50), limits(0, 50), limits(20, 50)]).toEqual([50, 50, 50, 20])
    expect([limits(null, 0), limits(30, 0)]).toEqual([Infinity, 30])
  })

  it('and the kill switch is the stricter one of both', () => {
    expect(defenceOf({ kill_switch: 'off' }, { kill_switch: 'new_calls' }).killSwitch).toBe('new_calls')
    expect(defenceOf({ kill_switch: 'all_calls' }, { kill_switch: 'new_calls' }).killSwitch).toBe('all_calls')
  })
})
