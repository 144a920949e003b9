import { describe, expect, it } from 'vitest'
import type { DialPlan, RouteEntry } from '../ports.ts'
import { outboundCarrier } from '../../../test/support/scripted-engine/scripted-engine.ts'
import { chooseCarriers } from './phone-call.ts'

const entry = (voip_carrier_sid: string, priority = 0): RouteEntry => ({
  voip_carrier_sid,
  priority,
  workload: 1,
})
const route = (regex: string, ...entries: RouteEntry[]) => ({
  regex,
  entries,
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
    ['the named one', { trunk: 'other' }, { plan, carrierOfCaller: 'own' }, 1, ['other']],
    ['an unknown name counts as none', { trunk: 'Other' }, { carrierOfCaller: 'own' }, 2, ['own']],
    ['that of the calling number', {}, { carrierOfCaller: 'shared' }, 2, ['shared']],
    ['one of the calling number that takes no calls', {}, { carrierOfCaller: 'gone' }, 5, ['own']],
    ['the table goes before the calling number', {}, { plan, carrierOfCaller: 'own' }, 3, ['other', 'own']],
    ['the first route that matches, not the longest', { number: '4930' }, { plan }, 3, ['other', 'own']],
    ['carriers that take no calls are left out', { number: '44' }, { plan }, 3, ['own']],
    ['a route with none that takes calls is no excuse for another', { number: '33' }, { plan }, 3, []],
    ['the default of the table', { number: '1' }, { plan }, 3, ['shared']],
    ['a table that says nothing of the number', { number: '1' }, { plan: planWithoutDefault }, 5, ['own']],
    ['any of the account', {}, {}, 5, ['own']],
    ['any of the provider', {}, { carriers: [shared] }, 5, ['shared']],
    ['none', {}, { carriers: [] }, 6, []],
  ])('%s', (_, call, ways, row, expected) => {
    const choice = chooseCarriers(
      { number: '49123', trunk: undefined, ...call },
      { carriers: all, plan: undefined, carrierOfCaller: undefined, ...ways },
      () => 0,
    )
    expect(choice.carriers.map(({ name }) => name)).toEqual(expected)
    expect(choice.rule).toContain(`row ${row}`)
  })

  it('of which any will do are drawn', () => {
    const ways = { carriers: all, plan: undefined, carrierOfCaller: undefined }
    const drawn = [0, 0.49, 0.5, 0.99].map(
      (random) => chooseCarriers({ number: '1', trunk: undefined }, ways, () => random).carriers[0]?.name,
    )
    expect(drawn).toEqual(['own', 'own', 'other', 'other'])
  })
})
