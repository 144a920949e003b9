// The address that phones are told to send to: the published one, the bound one, or the one that faces them.
import { createSocket } from 'node:dgram'
import { isIP, isIPv6 } from 'node:net'
import { networkInterfaces } from 'node:os'

const anyAddress = ['0.0.0.0', '::']

export interface LocalAddressOptions {
  readonly bind: string
  readonly publicAddress: string | undefined
  /** Whom the media is for, when known. */
  readonly towards?: string | undefined
}

export async function findLocalAddress(options: LocalAddressOptions): Promise<string> {
  const { bind, publicAddress, towards } = options
  if (publicAddress !== undefined && publicAddress !== '') return publicAddress
  if (!anyAddress.includes(bind)) return bind
  const facing = towards === undefined || isIP(towards) === 0 ? undefined : await addressFacing(towards)
  return facing ?? firstExternalAddress(bind)
}

/** Connecting a UDP socket sends nothing: the kernel only looks up its route. */
function addressFacing(towards: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = createSocket(isIPv6(towards) ? 'udp6' : 'udp4')
    const finish = (address: string | undefined): void => {
      socket.close(() => resolve(address))
    }
    socket.once('error', () => finish(undefined))
    // Any port will do; 9 is the discard service.
    socket.connect(9, towards, () => finish(socket.address().address))
  })
}

function firstExternalAddress(bind: string): string {
  const family = isIPv6(bind) ? 'IPv6' : 'IPv4'
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
  const isUsable = (entry: (typeof addresses)[number]): boolean =>
    !entry.internal && entry.family === family && !entry.address.startsWith('fe80')
  return addresses.find(isUsable)?.address ?? (family === 'IPv6' ? '::1' : '127.0.0.1')
}
