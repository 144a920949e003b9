// The carriers at an address that was not chosen as a gateway.
import { AppError } from '../../lib/errors.ts'
import type { CarrierHop } from '../ports.ts'
import type { OutboundNeeds } from './needs.ts'

export interface CarrierPlace {
  readonly address: string
  /** The account of the carrier; null for a shared one. */
  readonly account_sid: string | null
}

// The most gateway names resolved for one call. That is done only for closed numbers, or where carriers are reserved.
const maxLookedUp = 500
// Half of the look-ups that one tenant may have in progress.
const atOnce = 16

/**
 * Returns the carriers of all accounts that call from one of these addresses, or are called there. Throws AppError
 * overloaded if a name cannot be looked up because too many look-ups are in progress.
 */
export async function carriersAt(
  addresses: ReadonlySet<string>,
  { directory, sip }: Pick<OutboundNeeds, 'directory' | 'sip'>,
): Promise<readonly CarrierPlace[]> {
  const found: CarrierPlace[] = []
  for (const address of addresses)
    for (const { carrier } of await directory.carriersAt(address))
      found.push({ address, account_sid: carrier.account_sid })
  const hops = hopsWorthLook(await directory.carrierHops(), addresses)
  for (let at = 0; at < hops.length; at += atOnce) {
    const some = hops.slice(at, at + atOnce)
    found.push(...(await Promise.all(some.map((hop) => among(addresses, hop, sip)))).flat())
  }
  return found
}

/** Matches a hop that is an address. */
const isAddress = /^sips?:(?:[^@]*@)?(?:\[|[\d.]+(?:[:;]|$))/i

/** Returns the hops at the addresses, and names: those of the operator first, since accounts may make many. */
function hopsWorthLook(hops: readonly CarrierHop[], addresses: ReadonlySet<string>): readonly CarrierHop[] {
  // An address of IPv6 has many spellings.
  const known = hops.filter(
    ({ hop }) =>
      isAddress.test(hop) && (hop.includes('[') || [...addresses].some((one) => hop.includes(one))),
  )
  const names = hops.filter(({ hop }) => !isAddress.test(hop))
  const isShared = ({ account_sid }: CarrierHop): boolean => account_sid === null
  const ordered = [...names.filter(isShared), ...names.filter((hop) => !isShared(hop))]
  return [...known, ...ordered.slice(0, maxLookedUp)]
}

async function among(
  addresses: ReadonlySet<string>,
  { hop, account_sid }: CarrierHop,
  sip: OutboundNeeds['sip'],
): Promise<readonly CarrierPlace[]> {
  const found = await sip()
    .resolve(hop)
    .catch((error: unknown) => {
      // A tenant that uses up its look-ups must not hide the carriers.
      if (error instanceof AppError && error.code === 'overloaded') throw error
      return undefined
    })
  const places = found === undefined ? [] : [found, ...(found.alternatives ?? [])]
  return places
    .filter(({ address }) => addresses.has(address))
    .map(({ address }) => ({ address, account_sid }))
}
