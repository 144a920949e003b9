// Whose carrier is at an address that no gateway was chosen for.
import type { CallServices } from '../call-services.ts'
import type { CarrierHop } from '../ports.ts'

export interface CarrierPlace {
  readonly address: string
  /** Whose carrier it is; null for a shared one. */
  readonly account_sid: string | null
}

// The addresses of gateways are looked up for numbers that are closed alone, or where accounts may reach no carrier of their
// own accord.
const maxLookedUp = 500

/** Those that an address of these belongs to, of whatever account: who sends calls from there, and who is called there. */
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
