// Where what a far end says may lead a call.
import type { CallServices } from './call-services.ts'

/**
 * By Record-Route, Path, Contact and redirects of a far end at the address `peer`; of one that was never heard, left out. The
 * operator's proxies pass on to any address what comes from here, and every node believes what they say of a caller: only who
 * speaks through one of them may lead a call there.
 */
export function reachableFor(
  peer: string | undefined,
  {
    isAllowedAddress,
    isAllowedHop,
    isSipProxy,
  }: Pick<CallServices, 'isAllowedAddress' | 'isAllowedHop' | 'isSipProxy'>,
): (address: string) => boolean {
  if (peer !== undefined && isSipProxy(peer)) return isAllowedHop
  return (address) => isAllowedAddress(address) && !isSipProxy(address)
}
