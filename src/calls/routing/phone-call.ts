// Which carriers take a call to a phone number, the first to be tried first (calls.md §3.7). Row numbers below are those
// of its table; row 4 is for calls that another call makes.
import type { DialPlan, OutboundCarrier } from '../ports.ts'
import { shareLoad } from './share-load.ts'

export interface PhoneCall {
  /** Without a leading plus. */
  readonly number: string
  /** The carrier that the target names. */
  readonly trunk: string | undefined
}

export interface WaysOut {
  /** The account's own before shared ones. */
  readonly carriers: readonly OutboundCarrier[]
  readonly plan: DialPlan | undefined
  /** The carrier that the calling number is with. */
  readonly carrierOfCaller: string | undefined
}

export interface CarrierChoice {
  /** The rule that decided, for the journal. */
  readonly rule: string
  /** Empty: nobody takes the call. */
  readonly carriers: readonly OutboundCarrier[]
}

/** `random` answers 0 to 1, without 1. */
export function chooseCarriers(call: PhoneCall, ways: WaysOut, random: () => number): CarrierChoice {
  const named = ways.carriers.find(({ name }) => name === call.trunk)
  if (named !== undefined) return { rule: 'phone call row 1: the carrier that is named', carriers: [named] }
  return ofCallingNumber(ways) ?? ofDialPlan(call, ways, random) ?? anyOf(ways, random)
}

function ofCallingNumber({ carriers, plan, carrierOfCaller }: WaysOut): CarrierChoice | undefined {
  if (plan !== undefined) return undefined
  const found = carriers.find(({ voip_carrier_sid }) => voip_carrier_sid === carrierOfCaller)
  return found === undefined
    ? undefined
    : { rule: 'phone call row 2: the carrier of the calling number', carriers: [found] }
}

function ofDialPlan(
  { number }: PhoneCall,
  { carriers, plan }: WaysOut,
  random: () => number,
): CarrierChoice | undefined {
  if (plan === undefined) return undefined
  const route = plan.routes.find((candidate) => candidate.matches(number))
  const entries = route?.entries ?? (plan.fallback === undefined ? undefined : [plan.fallback])
  if (entries === undefined) return undefined
  const usable = shareLoad(entries, random).flatMap(
    (entry) => carriers.find(({ voip_carrier_sid }) => voip_carrier_sid === entry.voip_carrier_sid) ?? [],
  )
  const name = route === undefined ? 'the default of the routing table' : `route ${route.regex}`
  return { rule: `phone call row 3: ${name}`, carriers: usable }
}

function anyOf({ carriers }: WaysOut, random: () => number): CarrierChoice {
  const own = carriers.filter(({ isShared }) => !isShared)
  const [rule, candidates] =
    own.length > 0
      ? ['phone call row 5: any carrier of the account', own]
      : ['phone call row 5: any carrier of the service provider', carriers]
  const chosen = candidates[Math.floor(random() * candidates.length)]
  return chosen === undefined
    ? { rule: 'phone call row 6: no carrier takes calls', carriers: [] }
    : { rule, carriers: [chosen] }
}
