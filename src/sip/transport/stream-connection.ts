// One connection over TCP or TLS, opened by either side: frames the input, answers pings, closes slow and idle far
// ends.
import type { Socket } from 'node:net'
import type { Timer } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import type { Remote } from './transports.ts'
import type { ConnectionMeans } from './connections.ts'
import { StreamFramer } from './stream-framer.ts'

export interface StreamConnectionOptions extends ConnectionMeans {
  readonly socket: Socket
  /** The far end opened it, and must send a message soon. */
  readonly isInbound: boolean
}

// DSCP CS3, signalling (RFC 4594 §4.2), in the upper six bits. Node.js has no such call for UDP sockets.
const signallingClass = 24 << 2
const pong = Buffer.from('\r\n')

export class StreamConnection {
  readonly remote: Remote
  readonly #options: StreamConnectionOptions
  readonly #socket: Socket
  readonly #framer = new StreamFramer()
  #hasSpoken = false
  #messageTimer: Timer | undefined
  #idleTimer: Timer | undefined

  constructor(options: StreamConnectionOptions) {
    this.#options = options
    this.remote = options.remote
    this.#socket = options.socket
    this.#socket.setNoDelay(true)
    markAsSignalling(this.#socket)
    // Keep-alive detects a far end that vanished silently, and so ends its registration.
    this.#socket.setKeepAlive(true, options.limits.keepAliveMs)
    this.#socket.on('data', (chunk: Buffer) => this.#received(chunk))
    // A pending write rejects with the error; `close` follows it.
    this.#socket.on('error', () => undefined)
    this.#socket.on('close', () => {
      this.#messageTimer?.cancel()
      this.#idleTimer?.cancel()
      options.closed()
    })
    if (options.isInbound) this.#watchMessage('no message after connecting')
    this.#watchIdle()
  }

  /** True once it has brought a whole message, or if we opened it; others are evicted when connections run out. */
  get hasSpoken(): boolean {
    return this.#hasSpoken || !this.#options.isInbound
  }

  get isOpen(): boolean {
    return !this.#socket.destroyed && this.#socket.writable
  }

  send(bytes: Uint8Array): Promise<void> {
    if (this.#socket.writableLength > this.#options.limits.maxUnsentBytes) {
      this.close()
      return Promise.reject(new AppError('sip_unreachable', 'the far end does not read'))
    }
    this.#watchIdle()
    return new Promise((resolve, reject) => {
      this.#socket.write(bytes, (error) => {
        if (error === null || error === undefined) resolve()
        else reject(new AppError('sip_unreachable', 'the connection failed', { cause: error }))
      })
    })
  }

  close(): void {
    this.#socket.destroy()
  }

  /** Closes once everything written has been sent. */
  closeSoon(): void {
    this.#socket.destroySoon()
  }

  #received(chunk: Buffer): void {
    this.#watchIdle()
    const wasInside = this.#framer.isInsideMessage
    let hasPinged = false
    for (const framed of this.#framer.push(chunk)) {
      if (framed.kind === 'ping') {
        // A ping does not prove that the far end speaks SIP: the first message is still due in time.
        if (this.#hasSpoken) this.#settled()
        hasPinged = true
      } else if (framed.kind === 'message') {
        if (!this.#options.admits()) return this.close()
        this.#hasSpoken = true
        this.#settled()
        this.#options.message(framed.message, framed.raw, this.remote)
      } else {
        this.#options.misbehaved(framed.reason, 'unparsable')
        return this.closeSoon()
      }
    }
    // Pings that arrive together get one response.
    if (hasPinged) this.send(pong).catch(() => undefined)
    // A line end that was cut in two looked like the beginning of a message.
    if (!this.#framer.isInsideMessage) return this.hasSpoken ? this.#settled() : undefined
    const hasJustBegun = !wasInside || this.#messageTimer === undefined
    if (hasJustBegun && this.hasSpoken) this.#watchMessage('message not complete in time')
  }

  #settled(): void {
    this.#messageTimer?.cancel()
    this.#messageTimer = undefined
  }

  #watchMessage(reason: string): void {
    this.#messageTimer?.cancel()
    this.#messageTimer = this.#options.clock.after(this.#options.limits.messageMs, () => {
      this.#options.misbehaved(reason, 'slow')
      this.close()
    })
  }

  #watchIdle(): void {
    this.#idleTimer?.cancel()
    this.#idleTimer = this.#options.clock.after(this.#options.limits.idleMs, () => {
      if (this.#options.isNeeded()) this.#watchIdle()
      else this.close()
    })
  }
}

/** Until it is connected, Node.js keeps the mark for later, but throws all the same. */
function markAsSignalling(socket: Socket): void {
  const mark = (): void => {
    try {
      socket.setTypeOfService(signallingClass)
    } catch {
      // The far end is gone, or the system does not support the mark: the connection works without it.
    }
  }
  if (socket.connecting) socket.once('connect', mark)
  else mark()
}
