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
import { combine, noChoices } from '../defence/defence-settings.ts'
import type { Target } from '../calls.ts'

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
  engine.carriers = [{ carrier, netmask: 32 }]
  const dry = await engine.calls.dryRun(account_sid, { direction: 'outbound', from: '+4420', to })
  const real = await engine.calls.prepare({ ...callRequest, to }).then(
    async ({ begin, call_sid }) => {
      await begin()
      await calm()
      const events = engine.store.journalOf(call_sid)
      return events.flatMap((event) => (event.type === 'decision' ? [event.code] : [])).find(Boolean)
    },
    (error: unknown) => (error as { readonly code: string }).code,
  )
  expect(engine.sent).toHaveLength(real === undefined ? 1 : 0)
  return [dry.refusal?.code, real]
}

it.each([
  ['44', phone('1410909879000')],
  ['1', phone('*82*6719005550100')],
  ['1', phone('09005550100')],
  ['1', phone('5550100;phone-context=+1900')],
  ['44', phone('+442079460000;rn=+881612345678')],
  ['44', phone('2079460000;phone-context=+44;rn=+881612345678')],
  ['44', uri('sip:14109098790000@192.0.2.10')],
  ['1', uri('sip:1010288*6719005550100@192.0.2.10')],
  ['44', uri('sip:5550100;phone-context=+1900@192.0.2.10;user=phone')],
  ['44', uri('sip:5550100@192.0.2.10;user=phone;phone-context=+1900')],
  ['44', uri('sip:5550100@192.0.2.10;user=phone;phone-context=%2B1900')],
])('in the country %s nothing is sent for %o', async (country, to) => {
  expect(await outcomes(country, to)).toEqual(['destination_closed', 'destination_closed'])
})

it.each([
  ['44', phone('01414960000')],
  ['1', phone('14105550100')],
  ['1', phone('*82*6712125550100')],
  ['44', uri('sip:4960000@192.0.2.10;user=phone;phone-context=+44141')],
])('in the country %s an ordinary number is called: %o', async (country, to) => {
  expect(await outcomes(country, to)).toEqual([undefined, undefined])
})
