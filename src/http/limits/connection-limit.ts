// The limit of connections that one address may hold: a share of those that are free, so that it never takes the last.
import { BlockList, isIPv6, type Socket } from 'node:net'
import { networkOf } from '../../network/network-of.ts'
import { Shares } from '../../lib/bounds/shares.ts'

export interface ConnectionLimitOptions {
  /** The limit for all addresses together; each connection takes memory before its client is known. */
  readonly maxConnections: number
  /** CIDR ranges of reverse proxies: many clients share their address, and the proxy bounds them. */
  readonly trustedProxies: readonly string[]
}

export interface ConnectionLimit {
  /** Counts the connection until it closes or is released. Closes one that exceeds the share, and returns false. */
  admit(socket: Socket): boolean
  /** Stops counting a connection that now has other limits. */
  release(socket: Socket): void
  isProxy(address: string): boolean
}

// With 10,000 connections, one address that takes all it can gets 588; a hundred of them get 86 each, and there is room
// for the next.
const share = 1 / 16

export function createConnectionLimit(options: ConnectionLimitOptions): ConnectionLimit {
  const { maxConnections, trustedProxies } = options
  const shares = new Shares(maxConnections)
  const held = new Map<Socket, string>()
  const proxies = new BlockList()
  for (const range of trustedProxies) {
    const [address = '', bits = ''] = range.split('/')
    proxies.addSubnet(address, Number(bits), isIPv6(address) ? 'ipv6' : 'ipv4')
  }
  const isProxy = (address: string): boolean =>
    address !== '' && proxies.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')
  const release = (socket: Socket): void => {
    const source = held.get(socket)
    if (source !== undefined && held.delete(socket)) shares.give(source)
  }
  return {
    isProxy,
    release,
    admit(socket) {
      const address = socket.remoteAddress ?? ''
      const source = networkOf(address)
      const mayEnter = shares.used < maxConnections && (isProxy(address) || shares.mayTake(source, share))
      if (!mayEnter) {
        socket.destroy()
        return false
      }
      shares.take(source)
      held.set(socket, source)
      socket.once('close', () => release(socket))
      return true
    },
  }
}
