// The local address that a peer can reach: SIP and media use the same one, in Contact, Via and SDP.
import { createSocket } from 'node:dgram'
import { isIP, isIPv6 } from 'node:net'
import { networkInterfaces } from 'node:os'
import type { Clock } from '../lib/clock.ts'
import { toPlainAddress } from './mapped-address.ts'

export interface LocalAddress {
  /** Our address for peers that are not known yet. */
  readonly general: string
  /** Returns our address as `remote`, an IP address, sees it; the general one if `remote` cannot be reached at all. */
  towards(remote: string): string
  /** Reports whether packets of the IP version of this address can be sent and received. */
  serves(address: string): boolean
}

export interface LocalAddressOptions {
  readonly bind: string
  /** The address for peers of its IP version in place of the bound one (NAT, containers). */
  readonly publicAddress: string | undefined
  readonly clock: Pick<Clock, 'monotonic'>
}

// Interfaces and routes change seldom; a system call for each message would cost more than parsing it.
const rememberedMs = 10_000
const maxRemembered = 10_000

export function createLocalAddress({ bind, publicAddress, clock }: LocalAddressOptions): LocalAddress {
  const isAnywhere = bind === '0.0.0.0' || bind === '::'
  const isServed = (address: string): boolean =>
    bind === '::' ? isIP(address) !== 0 : isIP(address) === isIP(bind)
  const known = new Map<string, string>()
  let forgetAt = clock.monotonic() + rememberedMs

  function find(remote: string): string {
    if (publicAddress !== undefined && isIP(publicAddress) === isIP(remote)) return publicAddress
    if (!isAnywhere) return bind
    return (isServed(remote) ? addressFacing(remote) : undefined) ?? general
  }

  const general = publicAddress ?? (isAnywhere ? generalAddress(isIPv6(bind)) : bind)
  return {
    general,
    serves: (address) => isServed(toPlainAddress(address)),
    towards(remote) {
      if (clock.monotonic() >= forgetAt || known.size >= maxRemembered) {
        known.clear()
        forgetAt = clock.monotonic() + rememberedMs
      }
      const plain = toPlainAddress(remote)
      const address = known.get(plain) ?? find(plain)
      known.set(plain, address)
      return address
    },
  }
}

/** Returns the address of the default route, or without one the first address that other machines can reach. */
function generalAddress(isV6: boolean): string {
  // Addresses for documentation (RFC 5737, RFC 3849): routed like any other, and no machine has them.
  return addressFacing(isV6 ? '2001:db8::1' : '192.0.2.1') ?? firstExternalAddress(isV6)
}

/**
 * Returns the address that the system would send from. Connecting a datagram socket sends nothing, it only looks up
 * the route. No name is looked up, so the result is there before `connect` returns.
 */
function addressFacing(remote: string): string | undefined {
  const family = isIP(remote)
  if (family === 0) return undefined
  const socket = createSocket({
    type: family === 6 ? 'udp6' : 'udp4',
    lookup: (host, _options, found) => found(null, host, family),
  })
  // Without a route the address is missing, which is checked below.
  socket.on('error', () => undefined)
  try {
    // Any port will do; 9 is the discard service.
    socket.connect(9, remote)
    const { address } = socket.address()
    return isUnspecified(address) ? undefined : address
  } catch {
    return undefined
  } finally {
    socket.close()
  }
}

function isUnspecified(address: string): boolean {
  return address === '0.0.0.0' || address === '::'
}

function firstExternalAddress(isV6: boolean): string {
  return externalAddresses(isV6)[0] ?? (isV6 ? '::1' : '127.0.0.1')
}

function externalAddresses(isV6: boolean): string[] {
  const family = isV6 ? 'IPv6' : 'IPv4'
  return Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .filter((entry) => !entry.internal && entry.family === family && !entry.address.startsWith('fe80'))
    .map(({ address }) => address)
}

/** Returns the addresses at which other machines can reach this one; none if only this machine can. */
export function addressesForOthers({
  bind,
  publicAddress,
}: Pick<LocalAddressOptions, 'bind' | 'publicAddress'>): readonly string[] {
  const announced = publicAddress ?? bind
  if (announced === '0.0.0.0') return externalAddresses(false)
  if (announced === '::') return [...externalAddresses(false), ...externalAddresses(true)]
  return announced === '::1' || announced.startsWith('127.') ? [] : [announced]
}
