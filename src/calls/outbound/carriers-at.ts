// The carriers at an address that was not chosen as a gateway.
import type { CallServices } from '../call-services.ts'
import type { CarrierHop } from '../ports.ts'

export interface CarrierPlace {
  readonly address: string
  /** The account of the carrier; null for a shared one. */
  readonly account_sid: string | null
}

// The most gateway names resolved for one call. That is done only for closed numbers, or where carriers are reserved.
const maxLookedUp = 500

/** Returns the carriers of all accounts that call from one of these addresses, or are called there. */
export async function carriersAt(
  addresses: ReadonlySet<string>,
  { directory, sip }: Pick<CallServices, 'directory' | 'sip'>,
): Promise<readonly CarrierPlace[]> {
  const found: CarrierPlace[] = []
  for (const address of addresses)
    for (const { carrier } of await directory.carriersAt(address))
      found.push({ address, account_sid: carrier.account_sid })
  const hops = (await directory.carrierHops()).slice(0, maxLookedUp)
  return [...found, ...(await Promise.all(hops.map((hop) => among(addresses, hop, sip)))).flat()]
}

async function among(
  addresses: ReadonlySet<string>,
  { hop, account_sid }: CarrierHop,
  sip: CallServices['sip'],
): Promise<readonly CarrierPlace[]> {
  const found = await sip()
    .resolve(hop)
    .catch(() => undefined)
  const places = found === undefined ? [] : [found, ...(found.alternatives ?? [])]
  return places
    .filter(({ address }) => addresses.has(address))
    .map(({ address }) => ({ address, account_sid }))
}
