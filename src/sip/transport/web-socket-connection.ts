// One WebSocket that speaks SIP (RFC 7118 §5): one message in each frame; answers pings, closes slow and idle far ends.
import { isUtf8 } from 'node:buffer'
import type { RawData, WebSocket } from 'ws'
import type { Timer } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import { parseMessage, skipLeadingBlankLines } from '../message/parse-message.ts'
import type { Remote } from './transports.ts'
import type { Connection, ConnectionMeans } from './connections.ts'

export interface WebSocketConnectionOptions extends ConnectionMeans {
  readonly channel: WebSocket
}

// RFC 6455 §7.4.1.
const goingAway = 1001
const maxKeepAliveBytes = 4
// The pong to one ping may be on its way when the next ping is due.
const maxUnanswered = 2

export class WebSocketConnection implements Connection {
  readonly remote: Remote
  readonly #options: WebSocketConnectionOptions
  readonly #channel: WebSocket
  #hasSpoken = false
  #firstTimer: Timer | undefined
  #idleTimer: Timer | undefined
  #pingTimer: Timer | undefined
  #unanswered = 0

  constructor(options: WebSocketConnectionOptions) {
    const { channel, clock, limits } = options
    this.#options = options
    this.remote = options.remote
    this.#channel = channel
    channel.on('message', (data) => this.#received(data))
    channel.on('ping', () => this.#pinged())
    channel.on('pong', () => (this.#unanswered = 0))
    // `close` follows the error.
    channel.on('error', (error) => options.misbehaved(error.message, 'unparsable'))
    channel.on('close', () => {
      this.#firstTimer?.cancel()
      this.#idleTimer?.cancel()
      this.#pingTimer?.cancel()
      options.closed()
    })
    this.#firstTimer = clock.after(limits.messageMs, () => {
      options.misbehaved('no message after connecting', 'slow')
      this.close()
    })
    this.#watchIdle()
    this.#pingLater()
  }

  get hasSpoken(): boolean {
    return this.#hasSpoken
  }

  get isOpen(): boolean {
    return this.#channel.readyState === this.#channel.OPEN
  }

  send(bytes: Uint8Array): Promise<void> {
    if (this.#channel.bufferedAmount > this.#options.limits.maxUnsentBytes) {
      this.close()
      return Promise.reject(new AppError('sip_unreachable', 'the far end does not read'))
    }
    this.#watchIdle()
    return new Promise((resolve, reject) => {
      // RFC 7118 §5.3: a text frame, unless the bytes are not UTF-8.
      this.#channel.send(bytes, { binary: !isUtf8(bytes) }, (error) => {
        if (error === null || error === undefined) resolve()
        else reject(new AppError('sip_unreachable', 'the connection failed', { cause: error }))
      })
    })
  }

  close(): void {
    this.#channel.terminate()
  }

  closeSoon(): void {
    this.#channel.close(goingAway)
  }

  /** Handles a ping, which counts against the budget of its source. */
  #pinged(): void {
    if (this.#options.admits()) this.#watchIdle()
    else this.close()
  }

  #received(data: RawData): void {
    const bytes = toBytes(data)
    this.#unanswered = 0
    this.#watchIdle()
    const isKeepAlive =
      bytes.byteLength <= maxKeepAliveBytes && skipLeadingBlankLines(bytes) === bytes.byteLength
    if (!this.#options.admits()) return this.close()
    if (isKeepAlive) return this.#answerPing(bytes)
    let message
    try {
      message = parseMessage(bytes)
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      this.#options.misbehaved(error.message, 'unparsable')
      // A far end that has not sent SIP yet is not expected to.
      return this.#hasSpoken ? undefined : this.close()
    }
    if (message.kind === 'request' && message.malformed !== undefined) {
      // The request gets its response, but does not show that the next one can be parsed.
      this.#options.misbehaved(message.malformed, 'unparsable')
    } else {
      this.#hasSpoken = true
      this.#firstTimer?.cancel()
    }
    this.#options.message(message, bytes, this.remote)
  }

  /** Responds to two line ends with one: RFC 5626 §3.5.1. */
  #answerPing(bytes: Buffer): void {
    if (bytes.byteLength === maxKeepAliveBytes) this.send(Buffer.from('\r\n')).catch(() => undefined)
  }

  /**
   * Pings the far end: a web page cannot check whether we are there (RFC 7118 §6), and proxies close connections that
   * are silent for a minute. A far end that no longer responds is gone, even if a proxy before it is there.
   */
  #pingLater(): void {
    this.#pingTimer = this.#options.clock.after(this.#options.limits.keepAliveMs, () => {
      if (this.#unanswered === maxUnanswered) return this.close()
      this.#unanswered += 1
      if (this.isOpen) this.#channel.ping()
      this.#pingLater()
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

function toBytes(data: RawData): Buffer {
  if (Buffer.isBuffer(data)) return data
  return Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data)
}
