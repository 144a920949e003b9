// Which carriers take a call to a phone number, the first to be tried first.
import type { DialPlan, OutboundCarrier } from '../ports.ts'
import type { RuleName } from './rules.ts'
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
  readonly rule: RuleName
  /** The route that matched, where one did. */
  readonly route?: string
  /** Empty: no carrier takes the call. */
  readonly carriers: readonly OutboundCarrier[]
}

/** `random` returns 0 to 1, without 1. */
export function chooseCarriers(call: PhoneCall, ways: WaysOut, random: () => number): CarrierChoice {
  const named = ways.carriers.find(({ name }) => name === call.trunk)
  if (named !== undefined) return { rule: 'phone-named-carrier', carriers: [named] }
  return ofCallingNumber(ways) ?? ofDialPlan(call, ways, random) ?? anyOf(ways, random)
}

function ofCallingNumber({ carriers, plan, carrierOfCaller }: WaysOut): CarrierChoice | undefined {
  if (plan !== undefined) return undefined
  const found = carriers.find(({ voip_carrier_sid }) => voip_carrier_sid === carrierOfCaller)
  return found === undefined ? undefined : { rule: 'phone-caller-carrier', carriers: [found] }
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
  return route === undefined
    ? { rule: 'phone-default-route', carriers: usable }
    : { rule: 'phone-route', route: route.regex, carriers: usable }
}

function anyOf({ carriers }: WaysOut, random: () => number): CarrierChoice {
  const own = carriers.filter(({ isShared }) => !isShared)
  const candidates = own.length > 0 ? own : carriers
  const chosen = candidates[Math.floor(random() * candidates.length)]
  if (chosen === undefined) return { rule: 'phone-no-carrier', carriers: [] }
  return { rule: own.length > 0 ? 'phone-account-carrier' : 'phone-provider-carrier', carriers: [chosen] }
}
