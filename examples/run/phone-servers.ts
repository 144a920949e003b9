// The addresses at which phones reach the platform: 127.0.0.1 would be the phone itself.
import { once } from 'node:events'
import { connect } from 'node:net'
import { networkInterfaces } from 'node:os'

export interface Server {
  readonly host: string
  readonly port: number
}

const maxConnectMs = 2000
/** The longest list: a machine with containers has an address for each of their networks. */
const maxServers = 4

/**
 * Returns the addresses for phones on the network, the best one first. For a platform of this machine they are
 * SWITCHHOOK_PUBLIC_ADDRESS, or those of this machine at which the port takes connections; none if the platform
 * listens on the loopback alone.
 */
export async function serversForPhones({ host, port }: Server): Promise<readonly Server[]> {
  if (!/^(127\.|localhost$|\[?::1\]?$)/.test(host)) return [{ host, port }]
  const published = process.env['SWITCHHOOK_PUBLIC_ADDRESS'] ?? ''
  if (published !== '' && !published.startsWith('127.')) return [{ host: published, port }]
  const own = Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .filter(({ internal, address }) => !internal && !address.startsWith('fe80'))
    .map(({ family, address }) => (family === 'IPv6' ? `[${address}]` : address))
  const reached = await Promise.all(own.map(async (address) => isReached({ host: address, port })))
  return own
    .filter((_, index) => reached[index] === true)
    .slice(0, maxServers)
    .map((address) => ({ host: address, port }))
}

async function isReached({ host, port }: Server): Promise<boolean> {
  const socket = connect({ host: host.replaceAll(/[[\]]/g, ''), port })
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(maxConnectMs) })
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

/** Returns the lines of a phone's settings that name the platform. */
export async function proxyLines(platform: Server): Promise<string[]> {
  const [first, ...others] = (await serversForPhones(platform)).map(({ host, port }) => `sip:${host}:${port}`)
  const here = `sip:${platform.host}:${platform.port}`
  if (first === undefined)
    return [
      `  outbound proxy  ${here} (UDP or TCP)`,
      `                  only for phones on this machine: the platform listens on ${platform.host} alone`,
    ]
  const more = others.length === 0 ? '' : `, or ${others.join(', ')}`
  return [`  outbound proxy  ${first} (UDP or TCP)${more}`]
}
