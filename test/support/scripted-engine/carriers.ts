// Carriers and numbers as facts, for tables of routing rules.
import type { CarrierFacts, CarrierMatch, NumberFacts } from '../../../src/calls/ports.ts'

/** Returns a carrier of account `a` at provider `p`, without an application. */
export function carrierOf(voip_carrier_sid: string, facts: Partial<CarrierFacts> = {}): CarrierFacts {
  return {
    voip_carrier_sid,
    name: `carrier ${voip_carrier_sid}`,
    account_sid: 'a',
    service_provider_sid: 'p',
    application_sid: null,
    registration: undefined,
    ...facts,
  }
}

export function matchOf(sid: string, facts: Partial<CarrierFacts> = {}, netmask = 32): CarrierMatch {
  return { carrier: carrierOf(sid, facts), netmask }
}

/** Returns a number of account `a` with the carrier, for the application `x`. */
export function numberOf(
  number: string,
  voip_carrier_sid: string,
  facts: Partial<NumberFacts> = {},
): NumberFacts {
  return { number, voip_carrier_sid, account_sid: 'a', application_sid: 'x', ...facts }
}
