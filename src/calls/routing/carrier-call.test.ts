import { describe, expect, it } from 'vitest'
import type { CarrierMatch, NumberFacts, NumberPattern } from '../ports.ts'
import { quickestMs } from '../../../test/support/cpu.ts'
import { matchOf, numberOf } from '../../../test/support/scripted-engine/carriers.ts'
import {
  byCarrier,
  byNumber,
  byPattern,
  byProvider,
  calledNumber,
  ownerOf,
  type CarrierCall,
  type Outcome,
} from './carrier-call.ts'
import { createNumberPattern } from './number-pattern.ts'

const called = '15551230100'
const own = matchOf('own', { application_sid: 'of own' })
const plain = matchOf('plain')
const sibling = matchOf('sibling', { account_sid: 'b', application_sid: 'of sibling' })
const shared = matchOf('shared', { account_sid: null })
const foreign = matchOf('foreign', { account_sid: 'c', service_provider_sid: 'q' })
const wide = matchOf('wide', { account_sid: 'b', application_sid: 'of wide' }, 1)

const call = (matches: readonly CarrierMatch[], account?: string): CarrierCall => ({
  called,
  matches,
  account: account === undefined ? undefined : { account_sid: account },
})

/** Returns `carrier > account > application`, or why there is none. */
function shown(outcome: Outcome | undefined): string {
  if (outcome === undefined) return 'nothing'
  if (outcome.kind !== 'route') return outcome.rule
  const { carrier, account_sid, application } = outcome
  return `${carrier.voip_carrier_sid} > ${account_sid ?? '-'} > ${application?.application_sid ?? '-'}`
}

describe('the called number', () => {
  it.each([
    ['+15551230100', '15551230100'],
    ['15551230100', '15551230100'],
    ['++1', '+1'],
    ['+1555;npdi;rn=1777', '1555'],
    ['+', 'anonymous'],
    ['', 'anonymous'],
    ['anonymous', 'anonymous'],
  ])('%s is %s', (user, expected) => {
    expect(calledNumber(user)).toBe(expected)
  })

  it('is found in linear time in a name with many digits', () => {
    const name = `${'1'.repeat(8000)}x`
    expect(quickestMs(() => calledNumber(name), 20)).toBeLessThan(20)
  })
})

describe('a call to a phone number', () => {
  it.each<[string, CarrierCall, readonly NumberFacts[], string]>([
    ['goes where the number says', call([own]), [numberOf(called, 'own')], 'own > a > x'],
    ['goes nowhere without one', call([own]), [], 'nothing'],
    ['of another carrier goes nowhere', call([own]), [numberOf(called, 'else')], 'nothing'],
    [
      'without a carrier goes nowhere',
      call([own]),
      [numberOf(called, 'own', { voip_carrier_sid: null })],
      'nothing',
    ],
    [
      'without an application goes to that of the carrier',
      call([own]),
      [numberOf(called, 'own', { application_sid: null })],
      'own > a > of own',
    ],
    [
      'without an application on a carrier without one has none',
      call([plain]),
      [numberOf(called, 'plain', { application_sid: null })],
      'plain > a > -',
    ],
    [
      'with a shared carrier goes to the account of the number',
      call([shared]),
      [numberOf(called, 'shared', { account_sid: 'b' })],
      'shared > b > x',
    ],
    [
      'of no account goes to that of the carrier',
      call([own]),
      [numberOf(called, 'own', { account_sid: null })],
      'own > a > x',
    ],
    [
      'of no account with a shared carrier has none yet',
      call([shared]),
      [numberOf(called, 'shared', { account_sid: null })],
      'shared > - > x',
    ],
    [
      'says whose call it is where carriers share an address',
      call([own, sibling, shared]),
      [numberOf(called, 'sibling', { account_sid: 'b' })],
      'sibling > b > x',
    ],
    [
      'that two carriers of the address have is ambiguous',
      call([own, sibling]),
      [numberOf(called, 'own'), numberOf(called, 'sibling', { account_sid: 'b' })],
      'carrier-number-ambiguous',
    ],
    [
      'that a carrier of a wider network has as well is not taken from the narrower one',
      call([own, wide]),
      [numberOf(called, 'wide', { account_sid: 'b' }), numberOf(called, 'own')],
      'own > a > x',
    ],
    [
      'that only the carrier of the wider network has is taken there',
      call([own, wide]),
      [numberOf(called, 'wide', { account_sid: 'b' })],
      'wide > b > x',
    ],
    [
      'of an account that the call does not name is not looked at',
      call([shared], 'a'),
      [numberOf(called, 'shared', { account_sid: 'b' })],
      'nothing',
    ],
    [
      'of no account belongs to the account that the call names',
      call([shared], 'a'),
      [numberOf(called, 'shared', { account_sid: null })],
      'shared > a > x',
    ],
  ])('%s', (_, asked, numbers, expected) => {
    expect(shown(byNumber(asked, numbers))).toBe(expected)
  })
})

const pattern = (number: string, sid: string, facts: Partial<NumberFacts> = {}): NumberPattern => {
  const made = createNumberPattern(numberOf(number, sid, facts))
  if (made === undefined) throw new Error(`${number} is no pattern`)
  return made
}

describe('a call to a number that a pattern stands for', () => {
  it.each<[string, CarrierCall, readonly NumberPattern[], string]>([
    ['goes where the pattern says', call([own]), [pattern('1555*', 'own')], 'own > a > x'],
    ['goes nowhere when none matches', call([own]), [pattern('1666*', 'own')], 'nothing'],
    [
      'follows the longest',
      call([own]),
      [
        pattern('1555*', 'own', { application_sid: 'short' }),
        pattern('155512*', 'own', { application_sid: 'long' }),
        pattern('1*', 'own', { application_sid: 'shorter' }),
      ],
      'own > a > long',
    ],
    [
      'is ambiguous where several accounts have one as long',
      call([own, sibling]),
      [pattern('1555*', 'own'), pattern('155\\d', 'sibling', { account_sid: 'b' })],
      'carrier-pattern-ambiguous',
    ],
    [
      'follows the first of one account that are as long',
      call([own, plain]),
      [pattern('1555*', 'own'), pattern('155\\d', 'plain')],
      'own > a > x',
    ],
  ])('%s', (_, asked, patterns, expected) => {
    expect(shown(byPattern(asked, patterns))).toBe(expected)
  })

  it('goes nowhere when it is too long for a number', () => {
    const patterns = [pattern('^1', 'own')]
    expect(byPattern({ ...call([own]), called: '1'.repeat(32) }, patterns)).toBeDefined()
    expect(byPattern({ ...call([own]), called: '1'.repeat(33) }, patterns)).toBeUndefined()
  })

  it('takes a bounded time for the most patterns that may be stored, and is then refused by name', () => {
    const costly = Array.from({ length: 1000 }, (_, index) => pattern(`(1?|.){29}x${index}`, 'own'))
    const asked = { ...call([own]), called: '1'.repeat(32) }
    expect(shown(byPattern(asked, costly))).toBe('carrier-pattern-too-costly')
    expect(quickestMs(() => byPattern(asked, costly), 20)).toBeLessThan(20)
  })

  it('leaves each account its part of the steps, whatever the patterns of another account take', () => {
    const costly = Array.from({ length: 100 }, (_, index) =>
      pattern(`(1?|.){29}x${index}`, 'shared', { account_sid: 'b' }),
    )
    const mine = pattern('^1555\\d+$', 'shared', { account_sid: 'a', application_sid: 'mine' })
    expect(shown(byPattern(call([shared]), [...costly, mine]))).toBe('shared > a > mine')
  })

  it('matches a hundred ordinary patterns', () => {
    const ordinary = Array.from({ length: 100 }, (_, index) =>
      pattern(`^1555(${index + 100}|${index + 300})$`, 'own'),
    )
    const last = pattern('^15551230[12]00$', 'own', { application_sid: 'last' })
    expect(shown(byPattern(call([own]), [...ordinary, last]))).toBe('own > a > last')
  })
})

describe('a call to a number that no account has', () => {
  it.each<[string, CarrierCall, string]>([
    [
      'goes to the application of the only carrier that has one',
      call([plain, own, shared]),
      'own > a > of own',
    ],
    ['is ambiguous where several have one', call([own, sibling]), 'carrier-application-ambiguous'],
    ['goes to the one of the narrowest network', call([own, wide]), 'own > a > of own'],
    ['goes to the wider network where the narrower has none', call([plain, wide]), 'wide > b > of wide'],
    ['goes nowhere where none has one', call([plain, shared]), 'nothing'],
    [
      'goes to no application of a shared carrier, which is of no account',
      call([matchOf('s', { account_sid: null, application_sid: 'y' })]),
      'nothing',
    ],
    ['goes to the first with one when it names the account', call([plain, own], 'a'), 'own > a > of own'],
    ['has no application when none has one, and names the account', call([plain], 'a'), 'plain > a > -'],
  ])('%s', (_, asked, expected) => {
    expect(shown(byCarrier(asked))).toBe(expected)
  })

  it.each<[string, readonly CarrierMatch[], string]>([
    ['one provider', [shared, plain], 'shared > - > -'],
    ['several providers', [plain, foreign], 'nothing'],
  ])('may be that of the only account of %s', (_, matches, expected) => {
    expect(shown(byProvider(call(matches)))).toBe(expected)
  })

  it.each<[string, CarrierCall, string | undefined]>([
    ['the account that the call names', call([shared], 'b'), 'b'],
    ['the account of all the carriers', call([own, plain]), 'a'],
    ['no account, for carriers of several accounts', call([own, sibling]), undefined],
    ['no account, for a shared carrier', call([shared]), undefined],
    ['no account, for one of them shared', call([own, shared]), undefined],
  ])('is the business of %s', (_, asked, expected) => {
    expect(ownerOf(asked)).toBe(expected)
  })
})
