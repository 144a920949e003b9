// The lookup of a socket: the addresses of a name that may be reached, from a single resolution.
import type { LookupFunction } from 'node:net'
import type { AddressGuard } from '../network/address-guard.ts'
import type { ResolvedAddress } from '../network/names.ts'
import { refusedAddress } from './errors.ts'

export type Resolve = (hostname: string) => Promise<readonly ResolvedAddress[]>

/**
 * Returns a lookup that gives the socket only checked addresses. The socket makes no lookup of its own, which could
 * have another result.
 */
export function guardedLookup(isAllowed: AddressGuard, resolve: Resolve): LookupFunction {
  const answer = async (
    hostname: string,
    wantsAll: boolean,
    callback: Parameters<LookupFunction>[2],
  ): Promise<void> => {
    let allowed: ResolvedAddress[]
    try {
      allowed = (await resolve(hostname)).filter(({ address }) => isAllowed(address))
    } catch (error) {
      return callback(error instanceof Error ? error : new Error(String(error)), '', 0)
    }
    const [first] = allowed
    if (first === undefined) callback(refusedAddress('the host'), '', 0)
    else if (wantsAll) callback(null, allowed)
    else callback(null, first.address, first.family)
  }
  return (hostname, { all }, callback) => void answer(hostname, all === true, callback)
}
