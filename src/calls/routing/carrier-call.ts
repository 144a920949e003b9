// The choice of the account and the application for a call from a carrier.
import { maxMatched } from '../../lib/pattern.ts'
import { telephoneUser } from '../../sip/message/uri.ts'
import type { AccountFacts, CarrierFacts, CarrierMatch, NumberFacts, NumberPattern } from '../ports.ts'
import { MatchBudget, maxSteps } from './match-budget.ts'
import type { RuleName } from './rules.ts'

export interface CarrierCall {
  /** The result of `calledNumber`. */
  readonly called: string
  /** Set if the call itself shows its account. */
  readonly account: Pick<AccountFacts, 'account_sid'> | undefined
  /** Never empty; the narrowest network first, within one width carriers of accounts before shared ones. */
  readonly matches: readonly CarrierMatch[]
}

export interface CarrierRoute {
  readonly rule: RuleName
  /** The pattern that matched, if any. */
  readonly pattern?: string
  readonly carrier: CarrierFacts
  /** Null if only the provider is known. */
  readonly account_sid: string | null
  readonly application: { readonly rule: RuleName; readonly application_sid: string } | undefined
}

export type Outcome =
  | ({ readonly kind: 'route' } & CarrierRoute)
  | { readonly kind: 'ambiguous'; readonly rule: RuleName }
  | { readonly kind: 'too-costly'; readonly rule: RuleName }

/** Returns the number without plus, separators and parameters (RFC 3966 §3), which only say how it was dialled. */
export function calledNumber(user: string): string {
  // Names may be called too.
  const [name = ''] = user.split(';')
  return (telephoneUser(user) ?? name).replace(/^\+/, '') || 'anonymous'
}

/** Chooses among the rows of the called number, of any carrier. Returns undefined if no carrier of the call has it. */
export function byNumber(call: CarrierCall, numbers: readonly NumberFacts[]): Outcome | undefined {
  const [hit, ...others] = narrowest(call, numbers)
  if (hit === undefined) return undefined
  if (others.length > 0) return { kind: 'ambiguous', rule: 'carrier-number-ambiguous' }
  return toRoute('carrier-number', call, hit)
}

/** Chooses by pattern. `patterns` are those of the carriers of the call, the longest of each carrier first. */
export function byPattern(call: CarrierCall, patterns: readonly NumberPattern[]): Outcome | undefined {
  if (call.called.length > maxMatched) return undefined
  const { matching, isComplete } = matchAll(call, patterns)
  const hits = narrowest(call, matching)
  const longest = Math.max(...hits.map(({ number: { number } }) => number.length))
  const [hit, ...others] = hits.filter(({ number: { number } }) => number.length === longest)
  if (hit === undefined)
    return isComplete ? undefined : { kind: 'too-costly', rule: 'carrier-pattern-too-costly' }
  if (others.some(({ number: { account_sid } }) => account_sid !== hit.number.account_sid))
    return { kind: 'ambiguous', rule: 'carrier-pattern-ambiguous' }
  return { ...toRoute('carrier-pattern', call, hit), pattern: hit.number.number }
}

/**
 * Matches the patterns that the call may reach. Their owners share the steps equally, so that no account can use up
 * those of another one at the same carrier.
 */
function matchAll(
  { called, account }: CarrierCall,
  patterns: readonly NumberPattern[],
): { readonly matching: readonly NumberPattern[]; readonly isComplete: boolean } {
  const byOwner = Map.groupBy(
    patterns.filter((pattern) => !isOfAnother(pattern, account)).sort(longestFirst),
    ({ account_sid }) => account_sid,
  )
  const tried = [...byOwner.values()].flatMap((own) => {
    const budget = new MatchBudget(maxSteps / byOwner.size)
    return own.map((pattern) => ({ pattern, isMatch: budget.matches(pattern, called) }))
  })
  return {
    matching: tried.flatMap(({ pattern, isMatch }) => (isMatch === true ? [pattern] : [])),
    isComplete: tried.every(({ isMatch }) => isMatch !== undefined),
  }
}

function longestFirst(a: NumberFacts, b: NumberFacts): number {
  return b.number.length - a.number.length
}

function isOfAnother({ account_sid }: NumberFacts, account: CarrierCall['account']): boolean {
  return account !== undefined && account_sid !== null && account_sid !== account.account_sid
}

/**
 * Chooses by carrier if the number is not a phone number here. If the call shows its account, the first carrier with an
 * application counts.
 */
export function byCarrier({ account, matches }: CarrierCall): Outcome | undefined {
  const withApplication = matches.filter(({ carrier: { application_sid } }) => application_sid !== null)
  if (account !== undefined) {
    const { carrier } = withApplication[0] ?? matches[0] ?? {}
    const { account_sid } = account
    return (
      carrier && {
        kind: 'route',
        rule: 'carrier-named-account',
        carrier,
        account_sid,
        ...applicationOf(carrier),
      }
    )
  }
  const own = withApplication.filter(({ carrier: { account_sid } }) => account_sid !== null)
  const [hit, ...others] = own.filter(({ netmask }) => netmask === own[0]?.netmask)
  if (hit === undefined) return undefined
  if (others.length > 0) return { kind: 'ambiguous', rule: 'carrier-application-ambiguous' }
  const { carrier } = hit
  const { account_sid } = carrier
  return { kind: 'route', rule: 'carrier-only-application', carrier, account_sid, ...applicationOf(carrier) }
}

/** Chooses the account of a recording session, which needs neither a number nor an application of a carrier. */
export function byOwner(call: CarrierCall): Outcome | undefined {
  if (call.account !== undefined) return byCarrier(call)
  const { matches } = call
  const near = matches.filter(({ netmask }) => netmask === matches[0]?.netmask)
  const account_sid = ownerOf({ account: undefined, matches: near })
  const carrier = near[0]?.carrier
  if (account_sid === undefined || carrier === undefined) return undefined
  return { kind: 'route', rule: 'siprec-account', carrier, account_sid, application: undefined }
}

/**
 * Chooses the only account of the provider, if it has one account. Returns undefined if the carriers belong to several
 * providers.
 */
export function byProvider({ matches }: CarrierCall): Outcome | undefined {
  const carrier = matches[0]?.carrier
  const isOfOne = matches.every(
    (match) => match.carrier.service_provider_sid === carrier?.service_provider_sid,
  )
  if (carrier === undefined || !isOfOne) return undefined
  return {
    kind: 'route',
    rule: 'carrier-only-account',
    carrier,
    account_sid: null,
    ...applicationOf(carrier),
  }
}

/**
 * Returns the account that all the carriers belong to. It gets the record of a refusal, even if the number belongs to
 * no account.
 */
export function ownerOf({ account, matches }: Pick<CarrierCall, 'account' | 'matches'>): string | undefined {
  if (account !== undefined) return account.account_sid
  const [owner, ...others] = new Set(matches.map(({ carrier: { account_sid } }) => account_sid))
  return others.length > 0 ? undefined : (owner ?? undefined)
}

interface Hit<N extends NumberFacts> {
  readonly match: CarrierMatch
  readonly number: N
}

/** Returns the numbers that carriers of the call have, in the narrowest network that has any. */
function narrowest<N extends NumberFacts>(
  { account, matches }: CarrierCall,
  numbers: readonly N[],
): readonly Hit<N>[] {
  const bySid = new Map(matches.map((match) => [match.carrier.voip_carrier_sid, match]))
  const hits = numbers.flatMap((number) => {
    const match = number.voip_carrier_sid === null ? undefined : bySid.get(number.voip_carrier_sid)
    return match === undefined || isOfAnother(number, account) ? [] : [{ match, number }]
  })
  const netmask = Math.max(...hits.map(({ match }) => match.netmask))
  return hits.filter(({ match }) => match.netmask === netmask)
}

function toRoute(
  rule: RuleName,
  { account }: CarrierCall,
  { match: { carrier }, number }: Hit<NumberFacts>,
): Outcome & { readonly kind: 'route' } {
  const account_sid = number.account_sid ?? carrier.account_sid ?? account?.account_sid ?? null
  const { application_sid } = number
  return {
    kind: 'route',
    rule,
    carrier,
    account_sid,
    ...(application_sid === null
      ? applicationOf(carrier)
      : { application: { rule: 'carrier-number-application', application_sid } }),
  }
}

function applicationOf({ application_sid }: CarrierFacts): Pick<CarrierRoute, 'application'> {
  return {
    application: application_sid === null ? undefined : { rule: 'carrier-application', application_sid },
  }
}
