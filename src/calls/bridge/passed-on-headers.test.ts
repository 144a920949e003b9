// Identity headers of a carrier are copied to dialled legs; those of a user are not.
import { expect, it } from 'vitest'
import type { SipRequest } from '../../sip/message/message.ts'
import type { Leg } from '../leg/leg.ts'
import { passedOnHeaders } from './passed-on-headers.ts'

const headers = [
  {
    name: 'p-asserted-identity',
    value: '<sip:+4930;verstat=TN-Validation-Passed@carrier.example;verstat=x>',
  },
  { name: 'privacy', value: 'id' },
  { name: 'diversion', value: '<sip:+4931@carrier.example>;reason=no-answer' },
  { name: 'history-info', value: '<sip:+4931@carrier.example>;index=1' },
  { name: 'user-to-user', value: '56a390f3d2b7310023a2;encoding=hex' },
  { name: 'x-secret', value: 'inside' },
]

function legOf(originating_sip_trunk_name: string | undefined, own = headers): Leg {
  const received: Pick<SipRequest, 'headers'> = { headers: own }
  return { received, journal: { facts: { started: { originating_sip_trunk_name } } } } as unknown as Leg
}

it.each([
  [
    'a carrier',
    'acme',
    true,
    ['p-asserted-identity', 'privacy', 'diversion', 'history-info', 'user-to-user'],
  ],
  ['a carrier whose identity is not forwarded', 'acme', false, []],
  ['a user', undefined, true, ['privacy']],
  ['a user whose identity is not forwarded', undefined, false, []],
])('of %s goes on what it may say', (_whose, trunk, forwardsIdentity, expected) => {
  const passed = passedOnHeaders(legOf(trunk), { forwardsIdentity, given: [] })
  expect(passed.map(({ name }) => name)).toEqual(expected)
})

it('gives way to what the application sets', () => {
  const given = [{ name: 'diversion', value: '<sip:desk@example.com>' }]
  const passed = passedOnHeaders(legOf('acme'), { forwardsIdentity: true, given })
  expect(passed.map(({ name }) => name)).toEqual([
    'p-asserted-identity',
    'privacy',
    'history-info',
    'user-to-user',
  ])
})

it('leaves out what a carrier says of its own verification of the number', () => {
  const [identity] = passedOnHeaders(legOf('acme'), { forwardsIdentity: true, given: [] })
  expect(identity?.value).toBe('<sip:+4930@carrier.example>')
})

it('has a bound: a long history leaves out itself, and never what guards an identity', () => {
  const namesOf = (...more: { readonly name: string; readonly value: string }[]): readonly string[] =>
    passedOnHeaders(legOf('acme', [...more, ...headers]), { forwardsIdentity: true, given: [] }).map(
      ({ name }) => name,
    )
  const history = { name: 'history-info', value: `<sip:${'1'.repeat(1_000)}@carrier.example>;index=1` }
  expect(namesOf(...Array.from({ length: 100 }, () => history))).toEqual([
    ...Array.from({ length: 3 }, () => 'history-info'),
    'p-asserted-identity',
    'privacy',
    'diversion',
    'history-info',
    'user-to-user',
  ])
  expect(namesOf({ name: 'privacy', value: 'id;'.repeat(2_000) })).toEqual([])
})
