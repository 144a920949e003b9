// RTP ports of one worker: even numbers, each with its RTCP port above it (RFC 3550 §11), and the sockets on them.
import { createSocket, type Socket } from 'node:dgram'
import { isIPv6 } from 'node:net'
import { AppError } from '../../lib/errors.ts'
import { toListenError } from '../../network/listen-error.ts'
import { toMappedAddress, toPlainAddress } from '../../network/mapped-address.ts'
import { StartError } from '../../lib/start-error.ts'
import type { PortRange } from '../worker-setup.ts'
import type { Endpoint } from '../rtp/source.ts'

export function portPairs({ first, last }: PortRange): number {
  return Math.max(0, Math.floor((last - evenFrom(first) + 1) / 2))
}

function evenFrom(port: number): number {
  return port + (port % 2)
}

/** Returns contiguous parts of the range, one per worker; fewer parts if there are fewer pairs than workers. */
export function splitPorts(range: PortRange, workers: number): PortRange[] {
  const pairs = portPairs(range)
  const parts = Math.min(workers, pairs)
  const start = evenFrom(range.first)
  return Array.from({ length: parts }, (_, index) => {
    const from = Math.floor((index * pairs) / parts)
    const to = Math.floor(((index + 1) * pairs) / parts)
    return { first: start + 2 * from, last: start + 2 * to - 1 }
  })
}

/**
 * The free ports in the order in which they became free, so that late packets of an old call rarely reach a new one.
 */
export class PortPool {
  readonly #free: number[]

  constructor(range: PortRange) {
    this.#free = Array.from({ length: portPairs(range) }, (_, index) => evenFrom(range.first) + 2 * index)
  }

  get free(): number {
    return this.#free.length
  }

  take(): number | undefined {
    return this.#free.shift()
  }

  giveBack(port: number): void {
    this.#free.push(port)
  }
}

// Packets that the kernel has not accepted yet. With more than these waiting, the oldest would be too late to be heard.
const mostQueuedPackets = 4

/** The two sockets of a session. Addresses are plain IPv4 or IPv6, also on a socket that accepts both. */
export class SocketPair {
  readonly port: number
  readonly #rtp: Socket
  readonly #rtcp: Socket
  readonly #isV6: boolean

  constructor(port: number, rtp: Socket, rtcp: Socket, isV6: boolean) {
    this.port = port
    this.#rtp = rtp
    this.#rtcp = rtcp
    this.#isV6 = isV6
  }

  /** Sets the receivers of datagrams and removes the former ones. */
  listen(onRtp: (datagram: Buffer, from: Endpoint) => void, onRtcp: typeof onRtp): void {
    this.#hear(this.#rtp, onRtp)
    this.#hear(this.#rtcp, onRtcp)
  }

  /** Returns false if the packet was dropped because the kernel is behind. */
  sendRtp(packet: Buffer, bytes: number, to: Endpoint): boolean {
    return this.#send(this.#rtp, packet, bytes, to)
  }

  sendRtcp(packet: Buffer, to: Endpoint): boolean {
    return this.#send(this.#rtcp, packet, packet.length, to)
  }

  /** Resolves when both ports are free again. */
  async close(): Promise<void> {
    await Promise.all([closeSocket(this.#rtp), closeSocket(this.#rtcp)])
  }

  #hear(socket: Socket, take: (datagram: Buffer, from: Endpoint) => void): void {
    const isV6 = this.#isV6
    socket.removeAllListeners('message')
    socket.on('message', (datagram, from) => {
      // A stranger may forge port 0. A packet sent back there would end the worker and all its calls.
      if (from.port !== 0) take(datagram, isV6 ? toPlain(from) : from)
    })
  }

  #send(socket: Socket, packet: Buffer, bytes: number, to: Endpoint): boolean {
    if (socket.getSendQueueCount() >= mostQueuedPackets) return false
    const address = this.#isV6 ? toMappedAddress(to.address) : to.address
    // The buffer is sent whole if possible, since sending a part creates another view of it.
    if (bytes === packet.length) socket.send(packet, to.port, address)
    else socket.send(packet, 0, bytes, to.port, address)
    return true
  }
}

function toPlain({ address, port }: Endpoint): Endpoint {
  return { address: toPlainAddress(address), port }
}

function closeSocket(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.close(() => resolve()))
}

function bindSocket(address: string, port: number): Promise<Socket> {
  const family = isIPv6(address) ? 6 : 4
  return new Promise((resolve, reject) => {
    const socket = createSocket({
      type: `udp${family}`,
      // Addresses are never names here. The default look-up would delay every packet to a later turn of the event loop.
      lookup: (host, _options, found) => found(null, host, family),
    })
    const fail = (error: Error): void => {
      closeSocket(socket).then(() => reject(error), reject)
    }
    socket.once('error', fail)
    socket.bind({ address, port, exclusive: true }, () => {
      socket.off('error', fail)
      // A packet that could not be sent (no route, port unreachable) is one lost packet. RTCP and the silence limit
      // report it.
      socket.on('error', () => undefined)
      resolve(socket)
    })
  })
}

async function bindPair(address: string, port: number): Promise<SocketPair> {
  const rtp = await bindSocket(address, port)
  try {
    return new SocketPair(port, rtp, await bindSocket(address, port + 1), isIPv6(address))
  } catch (error) {
    await closeSocket(rtp)
    throw error
  }
}

// Other programs may use some of these ports. With more than this in a row taken, the range belongs to another program.
const mostTakenPorts = 64

/** Binds the next free pair of ports that can be bound. Throws no_media_port. */
export async function openSockets(pool: PortPool, bind: string): Promise<SocketPair> {
  let cause: unknown
  for (let attempt = Math.min(pool.free, mostTakenPorts); attempt > 0; attempt -= 1) {
    const port = pool.take()
    if (port === undefined) break
    try {
      return await bindPair(bind, port)
    } catch (error) {
      pool.giveBack(port)
      cause = error
    }
  }
  throw new AppError('no_media_port', 'no RTP port is free', { cause })
}

/**
 * Checks the range at the start, so that a faulty one stops the start instead of failing the first call. Throws
 * StartError.
 */
export async function demandPorts(bind: string, range: PortRange, workers: number): Promise<void> {
  for (const part of splitPorts(range, Math.max(1, workers))) {
    try {
      await (await openSockets(new PortPool(part), bind)).close()
    } catch (error) {
      throw toRangeError(error, bind, part)
    }
  }
}

function toRangeError(error: unknown, address: string, { first, last }: PortRange): unknown {
  const { cause } = error as Error
  if (cause instanceof Error && 'code' in cause && cause.code === 'EADDRINUSE')
    return new StartError(
      `The UDP ports ${first}-${last} of ${address} are in use by other programs: set SWITCHHOOK_RTP_PORTS to a free range.`,
      { cause },
    )
  return toListenError(cause ?? error, {
    setting: 'SWITCHHOOK_RTP_PORTS',
    transport: 'UDP',
    address,
    port: first,
  })
}
