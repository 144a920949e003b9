import { describe, expect, it } from 'vitest'
import { compilePattern } from '../../lib/pattern.ts'
import { quickestMs } from '../../../test/support/cpu.ts'
import type { DialPlan, RouteEntry } from '../ports.ts'
import { outboundCarrier } from '../../../test/support/scripted-engine/scripted-facts.ts'
import { chooseCarriers } from './phone-call.ts'

const entry = (voip_carrier_sid: string, priority = 0): RouteEntry => ({
  voip_carrier_sid,
  priority,
  workload: 1,
})
const route = (regex: string, ...entries: RouteEntry[]) => ({
  regex,
  entries,
  size: 5,
  matches: (number: string) => number.startsWith(regex),
})
const own = outboundCarrier('own')
const other = outboundCarrier('other')
const shared = outboundCarrier('shared', { isShared: true })
const all = [own, other, shared]

const plan: DialPlan = {
  routes: [
    route('49', entry('other', 1), entry('own', 2)),
    route('4930', entry('shared')),
    route('33', entry('gone')),
    route('44', entry('gone', 1), entry('own', 2)),
  ],
  fallback: entry('shared'),
}
const planWithoutDefault = { ...plan, fallback: undefined }

describe('the carriers of a call to a phone', () => {
  it.each([
    ['the named one', { trunk: 'other' }, { plan, carrierOfCaller: 'own' }, 'phone-named-carrier', ['other']],
    [
      'an unknown name counts as none',
      { trunk: 'Other' },
      { carrierOfCaller: 'own' },
      'phone-caller-carrier',
      ['own'],
    ],
    ['that of the calling number', {}, { carrierOfCaller: 'shared' }, 'phone-caller-carrier', ['shared']],
    [
      'one of the calling number that takes no calls',
      {},
      { carrierOfCaller: 'gone' },
      'phone-account-carrier',
      ['own'],
    ],
    [
      'the table goes before the calling number',
      {},
      { plan, carrierOfCaller: 'own' },
      'phone-route',
      ['other', 'own'],
    ],
    [
      'the first route that matches, not the longest',
      { number: '4930' },
      { plan },
      'phone-route',
      ['other', 'own'],
    ],
    ['carriers that take no calls are left out', { number: '44' }, { plan }, 'phone-route', ['own']],
    [
      'a route that matches is not skipped, even if none of its carriers takes calls',
      { number: '33' },
      { plan },
      'phone-route',
      [],
    ],
    ['the default of the table', { number: '1' }, { plan }, 'phone-default-route', ['shared']],
    [
      'a table that says nothing of the number',
      { number: '1' },
      { plan: planWithoutDefault },
      'phone-account-carrier',
      ['own'],
    ],
    ['any of the account', {}, {}, 'phone-account-carrier', ['own']],
    ['any of the provider', {}, { carriers: [shared] }, 'phone-provider-carrier', ['shared']],
    ['none', {}, { carriers: [] }, 'phone-no-carrier', []],
  ])('%s', (_, call, ways, rule, expected) => {
    const choice = chooseCarriers(
      { number: '49123', trunk: undefined, ...call },
      { carriers: all, plan: undefined, carrierOfCaller: undefined, ...ways },
      () => 0,
    )
    expect(choice.carriers.map(({ name }) => name)).toEqual(expected)
    expect(choice.rule).toBe(rule)
  })

  it('are those of the route that matches, which is named', () => {
    const ways = { carriers: all, plan, carrierOfCaller: undefined }
    expect(chooseCarriers({ number: '49123', trunk: undefined }, ways, () => 0).route).toBe('49')
  })

  it('of which any will do are drawn', () => {
    const ways = { carriers: all, plan: undefined, carrierOfCaller: undefined }
    const drawn = [0, 0.49, 0.5, 0.99].map(
      (random) => chooseCarriers({ number: '1', trunk: undefined }, ways, () => random).carriers[0]?.name,
    )
    expect(drawn).toEqual(['own', 'own', 'other', 'other'])
  })

  const notUp =
    (...names: readonly string[]) =>
    ({ name }: { readonly name: string }): boolean =>
      !names.includes(name)
  const call = { number: '49', trunk: undefined }
  const namesOf = (
    ways: Partial<Parameters<typeof chooseCarriers>[1]>,
    more: object = {},
  ): readonly string[] =>
    chooseCarriers(
      { ...call, ...more },
      { carriers: all, plan: undefined, carrierOfCaller: undefined, ...ways },
      () => 0,
    ).carriers.map(({ name }) => name)

  it.each<[string, readonly string[], Parameters<typeof namesOf>[0], object, readonly string[]]>([
    ['of a route without those that are down', ['other'], { plan }, {}, ['own']],
    [
      'of a route whose carriers are all down, in their order',
      ['other', 'own'],
      { plan },
      {},
      ['other', 'own'],
    ],
    ['that is well before one that is down', ['own'], {}, {}, ['other']],
    ['of the provider where the own ones are down', ['own', 'other'], {}, {}, ['shared']],
    ['of the account where all are down', ['own', 'other', 'shared'], {}, {}, ['own']],
    ['that is named, also when it is down', ['other'], {}, { trunk: 'other' }, ['other']],
    ['of the calling number, also when it is down', ['own'], { carrierOfCaller: 'own' }, {}, ['own']],
  ])('are the ones %s', (_, down, ways, more, expected) => {
    expect(namesOf({ ...ways, isUp: notUp(...down) }, more)).toEqual(expected)
  })
})

describe('a table of the most and the costliest routes', () => {
  const table = (regex: (index: number) => string): DialPlan => ({
    routes: Array.from({ length: 100 }, (_, index) => {
      const pattern = compilePattern(regex(index))
      if (pattern === undefined) throw new Error(`${regex(index)} is no pattern`)
      return { ...pattern, regex: regex(index), entries: [entry('own')] }
    }),
    fallback: entry('shared'),
  })
  const choose = (routes: DialPlan, number: string) =>
    chooseCarriers(
      { number, trunk: undefined },
      { carriers: all, plan: routes, carrierOfCaller: undefined },
      () => 0,
    )

  it('takes a bounded time, and the call is then refused by name', () => {
    const costly = table((index) => `(1?|.){29}x${index}`)
    const refuse = () =>
      expect(() => choose(costly, '1'.repeat(32))).toThrow(
        expect.objectContaining({ code: 'patterns_too_costly' }),
      )
    expect(quickestMs(refuse, 20)).toBeLessThan(20)
  })

  it('is tried to its end if its routes are ordinary', () => {
    const ordinary = table((index) => `^1[2-9]\\d{2}[2-9]${index + 100}\\d{3,6}$`)
    expect(choose(ordinary, '12125199123456').route).toBe('^1[2-9]\\d{2}[2-9]199\\d{3,6}$')
    expect(choose(ordinary, '49301234567').rule).toBe('phone-default-route')
  })
})
