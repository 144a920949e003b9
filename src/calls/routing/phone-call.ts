// The choice and order of the carriers for a call to a phone number.
import { AppError } from '../../lib/errors.ts'
import type { DialPlan, DialRoute, OutboundCarrier } from '../ports.ts'
import { MatchBudget } from './match-budget.ts'
import type { RuleName } from './rules.ts'
import { shareLoad } from './share-load.ts'

export interface PhoneCall {
  /** Without a leading plus. */
  readonly number: string
  /** The carrier that the target names. */
  readonly trunk: string | undefined
  /** The only carrier that the call may use. */
  readonly voip_carrier_sid?: string | undefined
}

export interface WaysOut {
  /** The account's own before shared ones. */
  readonly carriers: readonly OutboundCarrier[]
  readonly plan: DialPlan | undefined
  /** The carrier to which the calling number belongs. */
  readonly carrierOfCaller: string | undefined
  /** Reports whether a carrier has a working gateway. If left out, all carriers count as working. */
  readonly isUp?: (carrier: OutboundCarrier) => boolean
}

export interface CarrierChoice {
  readonly rule: RuleName
  /** The route that matched, if any. */
  readonly route?: string
  /** Empty if no carrier takes the call. */
  readonly carriers: readonly OutboundCarrier[]
}

/** Chooses the carriers. `random` is like Math.random. Throws AppError patterns_too_costly. */
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
  const route = firstMatch(plan.routes, number)
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

/** Throws AppError patterns_too_costly where too many steps come before a match. */
function firstMatch(routes: readonly DialRoute[], number: string): DialRoute | undefined {
  const budget = new MatchBudget()
  for (const route of routes) {
    const isMatch = budget.matches(route, number)
    if (isMatch === undefined)
      throw new AppError(
        'patterns_too_costly',
        'the routes of the routing table take more steps to match with the number than one call may cause',
      )
    if (isMatch) return route
  }
  return undefined
}

function anyOf({ carriers, isUp = always }: WaysOut, random: () => number): CarrierChoice {
  const candidates = preferred(orAll(carriers, isUp))
  const chosen = candidates[Math.floor(random() * candidates.length)]
  if (chosen === undefined) return { rule: 'phone-no-carrier', carriers: [] }
  return { rule: chosen.isShared ? 'phone-provider-carrier' : 'phone-account-carrier', carriers: [chosen] }
}

/** Returns the account's own carriers, or the shared ones if it has none. */
function preferred(carriers: readonly OutboundCarrier[]): readonly OutboundCarrier[] {
  const own = carriers.filter(({ isShared }) => !isShared)
  return own.length > 0 ? own : carriers
}

/** Returns the working items, or all of them if none works. */
export function orAll<T>(items: readonly T[], isUp: (item: T) => boolean): readonly T[] {
  const up = items.filter(isUp)
  return up.length > 0 ? up : items
}

const always = (): boolean => true
