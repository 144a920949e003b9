// Which account and application a call from a carrier goes to (calls.md §3.2). Row numbers below are that table's.
import { telephoneNumber } from '../../sip/message/uri.ts'
import type { AccountFacts, CarrierFacts, CarrierMatch, NumberFacts, NumberPattern } from '../ports.ts'

export interface CarrierCall {
  /** As `calledNumber` has it. */
  readonly called: string
  /** Set where the call itself says whose it is. */
  readonly account: Pick<AccountFacts, 'account_sid'> | undefined
  /** Never empty; the narrowest network first, within one width carriers of accounts before shared ones. */
  readonly matches: readonly CarrierMatch[]
}

export interface CarrierRoute {
  /** For the journal. */
  readonly rule: string
  readonly carrier: CarrierFacts
  /** Null where only the provider is known. */
  readonly account_sid: string | null
  readonly application: { readonly rule: string; readonly application_sid: string } | undefined
}

export type Outcome =
  ({ readonly kind: 'route' } & CarrierRoute) | { readonly kind: 'ambiguous'; readonly rule: string }

/** Row 1, and without the parameters of the number (RFC 3966 §3), which tell how it was dialled. */
export function calledNumber(user: string): string {
  const [number = '', ...params] = user.split(';')
  const context = params.find((param) => /^phone-context=/i.test(param))?.slice('phone-context='.length)
  // Names are called too, and a `-` is part of theirs (RFC 3966 §5.1.1).
  const isNumber = /^\+?[\d\-.()]*\d[\d\-.()]*$/.test(number)
  return (isNumber ? telephoneNumber(number, context) : number).replace(/^\+/, '') || 'anonymous'
}

/** Rows 2 and 3. `numbers` are those that were called, of any carrier. Undefined where the rows say nothing. */
export function byNumber(call: CarrierCall, numbers: readonly NumberFacts[]): Outcome | undefined {
  const [hit, ...others] = narrowest(call, numbers)
  if (hit === undefined) return undefined
  if (others.length > 0) return { kind: 'ambiguous', rule: 'carrier call row 3: several such phone numbers' }
  return toRoute('carrier call row 2: the phone number', call, hit)
}

// E.164 §6.2 has 15 digits, and a prefix or an extension may come with them; what is longer is no number.
const longestCalled = 32

/** Row 4. `patterns` are those of the carriers of the call. */
export function byPattern(call: CarrierCall, patterns: readonly NumberPattern[]): Outcome | undefined {
  if (call.called.length > longestCalled) return undefined
  const matching = patterns.filter((pattern) => pattern.matches(call.called))
  const hits = narrowest(call, matching)
  const longest = Math.max(...hits.map(({ number: { number } }) => number.length))
  const [hit, ...others] = hits.filter(({ number: { number } }) => number.length === longest)
  if (hit === undefined) return undefined
  if (others.some(({ number: { account_sid } }) => account_sid !== hit.number.account_sid))
    return { kind: 'ambiguous', rule: 'carrier call row 4: patterns of several accounts, equally long' }
  return toRoute(`carrier call row 4: the pattern ${hit.number.number}`, call, hit)
}

/** Row 5; where the call says whose it is, its first carrier that has an application takes it. */
export function byCarrier({ account, matches }: CarrierCall): Outcome | undefined {
  const withApplication = matches.filter(({ carrier: { application_sid } }) => application_sid !== null)
  if (account !== undefined) {
    const { carrier } = withApplication[0] ?? matches[0] ?? {}
    const rule = 'carrier call: a number of nobody, for the account that the call names'
    return (
      carrier && { kind: 'route', rule, carrier, account_sid: account.account_sid, ...applicationOf(carrier) }
    )
  }
  const own = withApplication.filter(({ carrier: { account_sid } }) => account_sid !== null)
  const [hit, ...others] = own.filter(({ netmask }) => netmask === own[0]?.netmask)
  if (hit === undefined) return undefined
  if (others.length > 0)
    return { kind: 'ambiguous', rule: 'carrier call row 5: several carriers with an application' }
  const { carrier } = hit
  const rule = 'carrier call row 5: the only carrier with an application'
  return { kind: 'route', rule, carrier, account_sid: carrier.account_sid, ...applicationOf(carrier) }
}

/** Row 6, for the only account of the provider, if it has only one. Undefined when the carriers are of several providers. */
export function byProvider({ matches }: CarrierCall): Outcome | undefined {
  const carrier = matches[0]?.carrier
  const isOfOne = matches.every(
    (match) => match.carrier.service_provider_sid === carrier?.service_provider_sid,
  )
  if (carrier === undefined || !isOfOne) return undefined
  const rule = 'carrier call row 6: the only account of the provider'
  return { kind: 'route', rule, carrier, account_sid: null, ...applicationOf(carrier) }
}

/** The account that all the carriers belong to: a refusal is its business even where the number is nobody's. */
export function ownerOf({ account, matches }: Pick<CarrierCall, 'account' | 'matches'>): string | undefined {
  if (account !== undefined) return account.account_sid
  const [owner, ...others] = new Set(matches.map(({ carrier: { account_sid } }) => account_sid))
  return others.length > 0 ? undefined : (owner ?? undefined)
}

interface Hit<N extends NumberFacts> {
  readonly match: CarrierMatch
  readonly number: N
}

/** Of the numbers that carriers of the call have, those of the narrowest network that has any. */
function narrowest<N extends NumberFacts>(
  { account, matches }: CarrierCall,
  numbers: readonly N[],
): readonly Hit<N>[] {
  const bySid = new Map(matches.map((match) => [match.carrier.voip_carrier_sid, match]))
  const hits = numbers.flatMap((number) => {
    const isOthers =
      account !== undefined && number.account_sid !== null && number.account_sid !== account.account_sid
    const match = number.voip_carrier_sid === null ? undefined : bySid.get(number.voip_carrier_sid)
    return match === undefined || isOthers ? [] : [{ match, number }]
  })
  const netmask = Math.max(...hits.map(({ match }) => match.netmask))
  return hits.filter(({ match }) => match.netmask === netmask)
}

function toRoute(
  rule: string,
  { account }: CarrierCall,
  { match: { carrier }, number }: Hit<NumberFacts>,
): Outcome {
  const account_sid = number.account_sid ?? carrier.account_sid ?? account?.account_sid ?? null
  const { application_sid } = number
  return {
    kind: 'route',
    rule,
    carrier,
    account_sid,
    ...(application_sid === null
      ? applicationOf(carrier)
      : { application: { rule: 'application of the phone number', application_sid } }),
  }
}

/** Row 8. */
function applicationOf({ application_sid }: CarrierFacts): Pick<CarrierRoute, 'application'> {
  return {
    application:
      application_sid === null
        ? undefined
        : { rule: 'carrier call row 8: application of the carrier', application_sid },
  }
}
