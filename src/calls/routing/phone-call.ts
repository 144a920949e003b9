// Which carriers take a call to a phone number, the first to be tried first.
import type { DialPlan, OutboundCarrier } from '../ports.ts'
import type { RuleName } from './rules.ts'
import { shareLoad } from './share-load.ts'

export interface PhoneCall {
  /** Without a leading plus. */
  readonly number: string
  /** The carrier that the target names. */
  readonly trunk: string | undefined
  /** The only carrier that it may go to. */
  readonly voip_carrier_sid?: string | undefined
}

export interface WaysOut {
  /** The account's own before shared ones. */
  readonly carriers: readonly OutboundCarrier[]
  readonly plan: DialPlan | undefined
  /** The carrier that the calling number is with. */
  readonly carrierOfCaller: string | undefined
  /** Whether a carrier has a gateway that is well. Left out, every one has. */
  readonly isUp?: (carrier: OutboundCarrier) => boolean
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
  const { trunk, voip_carrier_sid: sid } = call
  if (sid !== undefined)
    return {
      rule: 'phone-named-carrier',
      carriers: ways.carriers.filter(({ voip_carrier_sid }) => voip_carrier_sid === sid),
    }
  const named = ways.carriers.find(({ name }) => name === trunk)
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
  { carriers, plan, isUp = always }: WaysOut,
  random: () => number,
): CarrierChoice | undefined {
  if (plan === undefined) return undefined
  const route = plan.routes.find((candidate) => candidate.matches(number))
  const entries = route?.entries ?? (plan.fallback === undefined ? undefined : [plan.fallback])
  if (entries === undefined) return undefined
  const found = shareLoad(entries, random).flatMap(
    (entry) => carriers.find(({ voip_carrier_sid }) => voip_carrier_sid === entry.voip_carrier_sid) ?? [],
  )
  const usable = orAll(found, isUp)
  return route === undefined
    ? { rule: 'phone-default-route', carriers: usable }
    : { rule: 'phone-route', route: route.regex, carriers: usable }
}

function anyOf({ carriers, isUp = always }: WaysOut, random: () => number): CarrierChoice {
  const candidates = preferred(orAll(carriers, isUp))
  const chosen = candidates[Math.floor(random() * candidates.length)]
  if (chosen === undefined) return { rule: 'phone-no-carrier', carriers: [] }
  return { rule: chosen.isShared ? 'phone-provider-carrier' : 'phone-account-carrier', carriers: [chosen] }
}

/** The account's own; the shared ones where it has none. */
function preferred(carriers: readonly OutboundCarrier[]): readonly OutboundCarrier[] {
  const own = carriers.filter(({ isShared }) => !isShared)
  return own.length > 0 ? own : carriers
}

/** Those that are well; all of them where none is. */
export function orAll<T>(items: readonly T[], isUp: (item: T) => boolean): readonly T[] {
  const up = items.filter(isUp)
  return up.length > 0 ? up : items
}

const always = (): boolean => true
