// The addresses to which the messages of a far end may direct a call.
import type { Binding, Remote } from '../sip/sip.ts'
import type { AccountFacts, CallSip } from './ports.ts'

export interface ReachNeeds {
  readonly sip: () => CallSip
  /** Whether a customer's SIP URI may lead to this IP address. */
  readonly isAllowedAddress: (address: string) => boolean
  /** Whether a customer may direct media to this IP address; through a proxy of the operator, its signalling too. */
  readonly isAllowedHop: (address: string) => boolean
  /** Whether this IP address is a SIP proxy of the operator. Messages from it are those of the users behind it. */
  readonly isSipProxy: (address: string) => boolean
}

/**
 * Returns a check of the places to which a far end may direct a call by Record-Route, Path, Contact or a redirect.
 * `peer` is the address of the far end, undefined if nothing has come from it. The operator's proxies forward requests
 * from here to any address, and every node trusts them about callers. Only a far end behind one may lead a call there.
 */
export function reachableFor(
  peer: string | undefined,
  account: Pick<AccountFacts, 'sip_realm'>,
  { isAllowedAddress, isAllowedHop, isSipProxy, sip }: ReachNeeds,
): (place: Remote) => boolean {
  const isAllowed =
    peer !== undefined && isSipProxy(peer)
      ? isAllowedHop
      : (address: string) => address === peer || (isAllowedAddress(address) && !isSipProxy(address))
  const isApart = apartFromPhones(account, { sip })
  return (place) => isAllowed(place.address) && isApart(place)
}

/** Returns a check that refuses only other accounts' phones registered here. A carrier's owner may choose any place. */
export function apartFromPhones(
  account: Pick<AccountFacts, 'sip_realm'>,
  { sip }: Pick<ReachNeeds, 'sip'>,
): (place: Remote) => boolean {
  return (place) => !isPhoneOfAnother(sip().bindings.reachedAt(place), account)
}

/**
 * Returns whether the bindings belong to a phone of another account. A registered phone lets packets from here through
 * NAT and past its own rules, so only those who may call its user may reach it.
 */
export function isPhoneOfAnother(
  phones: readonly Pick<Binding, 'aor'>[],
  { sip_realm }: Pick<AccountFacts, 'sip_realm'>,
): boolean {
  return phones.length > 0 && !phones.some(({ aor }) => aor.endsWith(`@${sip_realm}`))
}
