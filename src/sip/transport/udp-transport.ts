// SIP over UDP: one socket, one message per datagram (RFC 3261 §18).
import { createSocket, type Socket } from 'node:dgram'
import { isIPv6 } from 'node:net'
import { AppError } from '../../lib/errors.ts'
import { toMappedAddress, toPlainAddress } from '../../network/mapped-address.ts'
import { parseMessage, skipLeadingBlankLines } from '../message/parse-message.ts'
import { isBindingRequest, toBindingResponse } from './stun.ts'
import type { TransportHandlers } from './transport.ts'
import { transports, type Remote } from './transports.ts'

export interface UdpTransportOptions {
  readonly handlers: TransportHandlers
  unparsable(reason: string, remote: Remote): void
}

// Room for a burst of 1,000 messages of 1.3 kB while the main thread is busy; the kernel may grant less.
const receiveBufferBytes = 2_097_152

export class UdpTransport {
  readonly #options: UdpTransportOptions
  #socket: Socket | undefined
  #isV6 = false

  constructor(options: UdpTransportOptions) {
    this.#options = options
  }

  listen(address: string, port: number): Promise<void> {
    // Remotes are addresses, never names, so the lookup returns without a turn of the event loop.
    this.#isV6 = isIPv6(address)
    const family = this.#isV6 ? 6 : 4
    const socket = createSocket({
      type: `udp${family}`,
      lookup: (remote, _options, done) => done(null, remote, family),
    })
    return new Promise((resolve, reject) => {
      const fail = (error: Error): void => {
        socket.close()
        reject(error)
      }
      socket.once('error', fail)
      socket.bind({ address, port, exclusive: true }, () => {
        socket.off('error', fail)
        // The error is about an earlier datagram, whose recipient is not known here.
        socket.on('error', () => undefined)
        socket.setRecvBufferSize(receiveBufferBytes)
        socket.on('message', (bytes, { address: from, port: fromPort }) => {
          this.#received(bytes, {
            transport: transports.udp.name,
            address: toPlainAddress(from),
            port: fromPort,
          })
        })
        this.#socket = socket
        resolve()
      })
    })
  }

  async stop(): Promise<void> {
    const socket = this.#socket
    this.#socket = undefined
    if (socket !== undefined) await new Promise<void>((resolve) => socket.close(() => resolve()))
  }

  send(bytes: Uint8Array, remote: Remote): Promise<void> {
    const socket = this.#socket
    if (socket === undefined)
      return Promise.reject(new AppError('sip_unreachable', 'the SIP socket is closed'))
    const address = this.#isV6 ? toMappedAddress(remote.address) : remote.address
    return new Promise((resolve, reject) => {
      socket.send(bytes, remote.port, address, (error) => {
        if (error === null) resolve()
        else reject(new AppError('sip_unreachable', 'the datagram was refused', { cause: error }))
      })
    })
  }

  #received(bytes: Buffer, remote: Remote): void {
    // Keep-alives of phones behind NAT: line ends, or four zero bytes.
    if (bytes.byteLength <= 4 && isKeepAlive(bytes)) return
    if (this.#options.handlers.admits?.(remote, bytes) === false) return
    // A stranger gets none: it could forge the address of a third party.
    if (isBindingRequest(bytes) && this.#options.handlers.isNeeded?.(remote) === true)
      return void this.send(toBindingResponse(bytes, remote), remote).catch(() => undefined)
    let message
    try {
      message = parseMessage(bytes)
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      return this.#options.unparsable(error.message, remote)
    }
    if (message.kind === 'request' && message.malformed !== undefined)
      this.#options.unparsable(message.malformed, remote)
    this.#options.handlers.message(message, bytes, remote)
  }
}

function isKeepAlive(bytes: Buffer): boolean {
  return skipLeadingBlankLines(bytes) === bytes.byteLength || bytes.every((byte) => byte === 0)
}
