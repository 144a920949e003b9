// Closed numbers in every spelling and in every part of a target: the call and its dry run are both refused.
import { expect, it } from 'vitest'
import {
  account,
  callRequest,
  outboundCarrier,
} from '../../../test/support/scripted-engine/scripted-facts.ts'
import { createScriptedEngine } from '../../../test/support/scripted-engine/scripted-engine.ts'
import { parsePlainVerbs } from '../../../test/support/scripted-engine/plain-verbs.ts'
import { calm } from '../../../test/support/scripted-engine/turns.ts'
import { combine, noChoices } from '../defence-settings.ts'
import type { Target } from '../verb/target.ts'

const { account_sid } = account
const phone = (number: string): Target => ({ type: 'phone', number })
const uri = (sipUri: string): Target => ({ type: 'sip', sipUri })

async function outcomes(country_code: string, to: Target): Promise<readonly (string | undefined)[]> {
  const engine = createScriptedEngine(parsePlainVerbs)
  engine.defence = combine(noChoices, { ...noChoices, country_code })
  engine.waysOut = [outboundCarrier('c1')]
  const carrier = {
    voip_carrier_sid: 'c1',
    name: 'c1',
    account_sid,
    service_provider_sid: null,
    application_sid: null,
    registration: undefined,
  }
  const isAtCarrier = to.type === 'phone' || JSON.stringify(to).includes('192.0.2.10')
  engine.carriers = isAtCarrier ? [{ carrier, netmask: 32 }] : []
  const dry = await engine.calls.dryRun(account_sid, { direction: 'outbound', from: '+4420', to })
  const real = await engine.calls.prepare({ ...callRequest, to }).then(
    async ({ begin, call_sid }) => {
      await begin()
      await calm()
      const events = engine.store.journalOf(call_sid)
      return events
        .flatMap((event) => (event.type === 'decision' || event.type === 'refusal' ? [event.code] : []))
        .find(Boolean)
    },
    (error: unknown) => (error as { readonly code: string }).code,
  )
  expect(engine.sent).toHaveLength(real === undefined ? 1 : 0)
  return [dry.refusal?.code, real]
}

it.each([
  ['1', phone('*82*6719005550100')],
  ['1', phone('5550100;phone-context=+1900')],
  ['1', phone('9,0019005550100')],
  ['44', phone('2079460000;phone-context=+44;rn=+881612345678')],
  ['1', uri('sip:1010288*6719005550100@192.0.2.10')],
  ['1', uri('sip:9,0019005550100@192.0.2.10')],
  ['1', uri('sip:9p19005550100@192.0.2.10;user=phone')],
  ['1', uri('sip:15551234567&0019005550100@192.0.2.10')],
  ['1', uri('sip:1-900-555-0100@192.0.2.10')],
  ['1', uri('sip:%2531900555010%2530@192.0.2.10')],
  ['1', uri('sip:12125550100:19005550100@192.0.2.10')],
  ['1', uri('sip:12125550100@192.0.2.10;dial=19005550100')],
  ['1', uri('sip:12125550100@192.0.2.10;user=dialstring')],
  ['1', uri('sip:alice19005550100@192.0.2.10')],
  ['1', uri('sip:alice@192.0.2.10;method=INFO')],
  ['44', uri('sip:5550100;phone-context=+1900@192.0.2.10;user=phone')],
  ['44', uri('sip:5550100@192.0.2.10;user=phone;phone-context=+1900')],
  ['44', uri('sip:5550100@192.0.2.10;user=phone;phone-context=%2B1900')],
])(
  'in the country %s nothing is sent for %o, which is no number in the form of carriers',
  async (country, to) => {
    expect(await outcomes(country, to)).toEqual(['unreadable_number', 'unreadable_number'])
  },
)

it.each([
  ['44', phone('1410909879000')],
  ['1', phone('09005550100')],
  ['44', phone('+442079460000;rn=+881612345678')],
  ['44', uri('sip:14109098790000@192.0.2.10')],
  ['44', uri('sip:%2B449098790000@192.0.2.10;user=phone;transport=udp')],
])('in the country %s nothing is sent for %o', async (country, to) => {
  expect(await outcomes(country, to)).toEqual(['destination_closed', 'destination_closed'])
})

it.each([
  ['44', phone('01414960000')],
  ['1', phone('14105550100')],
  ['1', phone('+1 (212) 555-0100')],
  ['1', uri('sip:+12125550100@192.0.2.10;user=phone;transport=udp')],
  ['1', uri('sip:reception@192.0.2.10')],
  ['1', uri('sip:room-101@192.0.2.10')],
  ['1', uri('sip:192.0.2.10')],
  ['1', uri('sip:room;9,0019005550100@192.0.2.99;x=1')],
])('in the country %s an ordinary number is called: %o', async (country, to) => {
  expect(await outcomes(country, to)).toEqual([undefined, undefined])
})

it.each([
  ['a user', 'sip:19005550100@192.0.2.10'],
  ['headers', 'sip:192.0.2.10?Route=%3Csip:19005550100@192.0.2.10%3E'],
])('a proxy with %s is refused, since a Route could carry a number', async (_, proxy) => {
  const to = { type: 'sip', sipUri: 'sip:bob@192.0.2.99', proxy } as const
  expect(await outcomes('1', to)).toEqual(['bad_request', 'bad_request'])
})
