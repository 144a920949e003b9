// Where what a far end says may lead a call.
import type { Binding, Remote } from '../sip/sip.ts'
import type { CallServices } from './call-services.ts'
import type { AccountFacts } from './ports.ts'

export type ReachServices = Pick<CallServices, 'isAllowedAddress' | 'isAllowedHop' | 'isSipProxy' | 'sip'>

/**
 * By Record-Route, Path, Contact and redirects of a far end at the address `peer`; of one that was never heard, left out. The
 * operator's proxies pass on to any address what comes from here, and every node believes what they say of a caller: only who
 * speaks through one of them may lead a call there.
 */
export function reachableFor(
  peer: string | undefined,
  account: Pick<AccountFacts, 'sip_realm'>,
  { isAllowedAddress, isAllowedHop, isSipProxy, sip }: ReachServices,
): (place: Remote) => boolean {
  const isAllowed =
    peer !== undefined && isSipProxy(peer)
      ? isAllowedHop
      : (address: string) => address === peer || (isAllowedAddress(address) && !isSipProxy(address))
  const isApart = apartFromPhones(account, { sip })
  return (place) => isAllowed(place.address) && isApart(place)
}

/** Anywhere but to the phones of other accounts that registered with this node: who owns a carrier is trusted with its places. */
export function apartFromPhones(
  account: Pick<AccountFacts, 'sip_realm'>,
  { sip }: Pick<CallServices, 'sip'>,
): (place: Remote) => boolean {
  return (place) => !isPhoneOfAnother(sip().bindings.boundTo(place), account)
}

/**
 * A phone that registered here lets in what comes from here, through NAT and past its own rules: only for those who may call
 * its user. The address of a proxy stands for no phone.
 */
export function isPhoneOfAnother(
  bindings: readonly Pick<Binding, 'aor' | 'path'>[],
  { sip_realm }: Pick<AccountFacts, 'sip_realm'>,
): boolean {
  const phones = bindings.filter(({ path }) => path.length === 0)
  return phones.length > 0 && !phones.some(({ aor }) => aor.endsWith(`@${sip_realm}`))
}
