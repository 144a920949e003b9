// The UDP port of browsers, tried before the library takes it: the library prints to the terminal when it is taken.
import { createSocket } from 'node:dgram'
import { isIPv6 } from 'node:net'
import { toListenError } from '../../network/listen-error.ts'

/** Takes the port for a moment and returns it; 0 is any free one. Rejects with a StartError if it cannot be taken. */
export function tryUdpPort(bind: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const place = { setting: 'SWITCHHOOK_BROWSER_PORT', transport: 'UDP', address: bind, port } as const
    const socket = createSocket(isIPv6(bind) ? 'udp6' : 'udp4')
    socket.once('error', (error) => socket.close(() => reject(toListenError(error, place) as Error)))
    socket.bind({ address: bind, port, exclusive: true }, () => {
      const taken = socket.address().port
      socket.close(() => resolve(taken))
    })
  })
}
