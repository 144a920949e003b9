// The decision whether a carrier is calling, and which carriers it may be.
import type { AccountFacts, CarrierMatch } from '../ports.ts'
import type { RuleName } from './rules.ts'

export interface UnknownCaller {
  /** The host of the Request-URI in lower case, or undefined if it has none. */
  readonly host: string | undefined
  /** True if a Contact of the platform may have this host. */
  readonly isOurAddress?: boolean
  /** The user of the Request-URI. */
  readonly user: string
  /** The account whose SIP realm the host is. */
  readonly realmOwner: AccountFacts | undefined
  /** True if the caller's headers and address are those of a user of an account that has no carrier there. */
  readonly isLikeUser: boolean
  /** The carriers at the source address, in the order of CarrierDirectory. */
  readonly matches: readonly CarrierMatch[]
}

export interface CarrierCaller {
  readonly kind: 'carrier'
  readonly rule: RuleName
  /** Set if the call itself shows its account. */
  readonly account: AccountFacts | undefined
  /** Never empty. */
  readonly matches: readonly CarrierMatch[]
}

export type Caller =
  | CarrierCaller
  /** Several of the carriers that share the address register as the called user. */
  | { readonly kind: 'ambiguous'; readonly rule: RuleName; readonly matches: readonly CarrierMatch[] }
  | { readonly kind: 'user' }

export function identifyCaller(call: UnknownCaller): Caller {
  const { host, isOurAddress = false, user, realmOwner, isLikeUser, matches } = call
  if (realmOwner !== undefined) {
    const own = matches.filter(({ carrier }) => mayServe(carrier, realmOwner))
    if (own.length > 0)
      return { kind: 'carrier', rule: 'caller-own-carrier', account: realmOwner, matches: own }
  }
  // A carrier may claim any address. One of another account must not get the calls of users for it. A realm alone
  // proves nothing: its owner may have chosen a name by which carriers of other accounts call.
  if (isLikeUser) return { kind: 'user' }
  const registered = matches.filter(({ carrier: { registration } }) => {
    return registration?.username === user && (isOurAddress || registration.realm === host)
  })
  if (registered.length > 1)
    return { kind: 'ambiguous', rule: 'caller-registered-carrier-ambiguous', matches: registered }
  if (registered.length === 1)
    return { kind: 'carrier', rule: 'caller-registered-carrier', account: undefined, matches: registered }
  if (matches.length === 0) return { kind: 'user' }
  return { kind: 'carrier', rule: 'caller-carrier-address', account: undefined, matches }
}

/** Reports whether a carrier is the account's own, or shared by its provider. */
export function mayServe(
  carrier: CarrierMatch['carrier'],
  { account_sid, service_provider_sid }: Pick<AccountFacts, 'account_sid' | 'service_provider_sid'>,
): boolean {
  if (carrier.account_sid !== null) return carrier.account_sid === account_sid
  return carrier.service_provider_sid === service_provider_sid
}
