// How many connections one address may hold: a share of those that are free, so that it never takes the last.
import { BlockList, isIPv6 } from 'node:net'
import type { Server, Socket } from 'node:net'
import { networkOf } from '../../network/network-of.ts'
import { Shares } from '../../lib/shares.ts'

export interface ConnectionLimitOptions {
  /** For all addresses together; each connection takes memory before its client is known. */
  readonly maxConnections: number
  /** CIDR ranges of reverse proxies: many clients share their address, and the proxy bounds them. */
  readonly trustedProxies: readonly string[]
}

// Of 10,000, one address that takes all it can gets 588; a hundred of them get 86 each, and there is room for the next.
const share = 1 / 16

/** Makes the server close every connection that is one too many from its address. */
export function limitConnections(server: Server, options: ConnectionLimitOptions): void {
  const { maxConnections, trustedProxies } = options
  const shares = new Shares(maxConnections)
  const proxies = new BlockList()
  for (const range of trustedProxies) {
    const [address = '', bits = ''] = range.split('/')
    proxies.addSubnet(address, Number(bits), isIPv6(address) ? 'ipv6' : 'ipv4')
  }
  server.maxConnections = maxConnections
  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? ''
    const source = networkOf(address)
    const isProxy = address !== '' && proxies.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')
    if (!isProxy && !shares.mayTake(source, share)) {
      socket.destroy()
      return
    }
    shares.take(source)
    socket.once('close', () => shares.give(source))
  })
}
