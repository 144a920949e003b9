// Whether an address that no gateway was chosen for is that of a carrier all the same.
import type { CallServices } from '../call-services.ts'
import type { AccountFacts } from '../ports.ts'
import { nextHopOf } from './phone-attempt.ts'

// Only a number that is closed has the gateways looked up, and more than this many an account hardly has.
const maxLookedUp = 200

/** The first of the addresses that a carrier has. */
export async function carrierAmong(
  addresses: ReadonlySet<string>,
  account: AccountFacts,
  { directory, sip }: Pick<CallServices, 'directory' | 'sip'>,
): Promise<string | undefined> {
  for (const address of addresses) if ((await directory.carriersAt(address)).length > 0) return address
  const carriers = await directory.outboundCarriers(account)
  const hops = carriers.flatMap((carrier) => carrier.gateways.map((gateway) => nextHopOf(carrier, gateway)))
  for (const hop of hops.slice(0, maxLookedUp)) {
    const found = await sip()
      .resolve(hop)
      .catch(() => undefined)
    const places = found === undefined ? [] : [found, ...(found.alternatives ?? [])]
    const match = places.find(({ address }) => addresses.has(address))
    if (match !== undefined) return match.address
  }
  return undefined
}
