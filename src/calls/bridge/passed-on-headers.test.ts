// Identity headers of a carrier are copied to dialled legs; those of a user are not.
import { expect, it } from 'vitest'
import type { SipRequest } from '../../sip/message/message.ts'
import type { Leg } from '../leg/leg.ts'
import { passedOnHeaders } from './passed-on-headers.ts'

const headers = [
  { name: 'p-asserted-identity', value: '<sip:+4930@carrier.example>' },
  { name: 'privacy', value: 'id' },
  { name: 'diversion', value: '<sip:+4931@carrier.example>;reason=no-answer' },
  { name: 'x-secret', value: 'inside' },
]

function legOf(originating_sip_trunk_name: string | undefined): Leg {
  const received: Pick<SipRequest, 'headers'> = { headers }
  return { received, journal: { facts: { started: { originating_sip_trunk_name } } } } as unknown as Leg
}

it.each([
  ['a carrier', 'acme', true, ['p-asserted-identity', 'privacy', 'diversion']],
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
  expect(passed.map(({ name }) => name)).toEqual(['p-asserted-identity', 'privacy'])
})
