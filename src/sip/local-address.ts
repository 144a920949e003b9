// Which address of ours a peer can reach: for Contact and Via, when bound to every address of the machine.
import { createSocket } from 'node:dgram'
import { BlockList, isIPv6 } from 'node:net'
import { networkInterfaces } from 'node:os'
import type { Clock } from '../lib/clock.ts'

export interface LocalAddress {
  /** Our address as `remote` sees it. */
  towards(remote: string): string
  /** Our address for peers that are not known yet. */
  readonly general: string
}

export interface LocalAddressOptions {
  readonly bind: string
  readonly publicAddress: string | undefined
  readonly clock: Clock
}

// Interfaces come and go seldom; asking the system for each call would cost more than parsing it.
const interfacesAgeMs = 10_000

export async function findLocalAddress(options: LocalAddressOptions): Promise<LocalAddress> {
  const { bind, publicAddress, clock } = options
  const fixed = publicAddress ?? (isWildcard(bind) ? undefined : bind)
  if (fixed !== undefined) return { general: fixed, towards: () => fixed }

  const general = (await sourceOfDefaultRoute(isIPv6(bind))) ?? '127.0.0.1'
  let networks = readNetworks()
  let readAt = clock.monotonic()
  return {
    general,
    towards(remote) {
      if (clock.monotonic() - readAt > interfacesAgeMs) {
        networks = readNetworks()
        readAt = clock.monotonic()
      }
      const family = isIPv6(remote) ? 'ipv6' : 'ipv4'
      return networks.find(({ list }) => list.check(remote, family))?.address ?? general
    },
  }
}

function isWildcard(address: string): boolean {
  return address === '0.0.0.0' || address === '::'
}

interface Network {
  readonly address: string
  readonly list: BlockList
}

function readNetworks(): Network[] {
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
  return addresses.flatMap(({ address, cidr, family }) => {
    const prefix = Number(cidr?.split('/')[1])
    if (!Number.isInteger(prefix)) return []
    const list = new BlockList()
    list.addSubnet(address, prefix, family === 'IPv6' ? 'ipv6' : 'ipv4')
    return [{ address, list }]
  })
}

/** The address the system would send from; connecting a datagram socket sends nothing. */
function sourceOfDefaultRoute(isV6: boolean): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = createSocket(isV6 ? 'udp6' : 'udp4')
    const finish = (address: string | undefined): void => {
      socket.close()
      resolve(address)
    }
    socket.once('error', () => finish(undefined))
    // Addresses for documentation (RFC 5737, RFC 3849): routed like any, reached by nobody.
    socket.connect(9, isV6 ? '2001:db8::1' : '192.0.2.1', () => finish(socket.address().address))
  })
}
