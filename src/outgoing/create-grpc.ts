// The client for gRPC calls that stream in both directions, with the interface of WebSockets. Each call has a connection
// of its own, which may go where HTTP may.
import type { ClientHttp2Session, ClientHttp2Stream, IncomingHttpHeaders } from 'node:http2'
import { connect as connectPlain, isIP, type Socket as NetSocket } from 'node:net'
import { connect as connectSecure } from 'node:tls'
import { createAddressGuard, literalOf, parseTarget } from '../network/address-guard.ts'
import type { SocketsOptions } from './create-sockets.ts'
import { ExchangeLimit, refusedAddress, toOutgoingError } from './errors.ts'
import { guardedLookup } from './guarded-lookup.ts'
import type { Socket, SocketEnd, SocketRequest, Sockets } from './sockets.ts'

/** The end of a call has this code and its gRPC status in sum; a close code of WebSockets is below it. */
export const grpcEnds = 5000
/** A call whose sender closed it ends in this time. */
const closeMs = 2000
const prefixBytes = 5

/** Opens calls by the URL of their method. A message without content ends the sending side. */
export function createGrpc({ allow, resolve, clock }: SocketsOptions): Sockets {
  const isAllowed = createAddressGuard(allow)
  const lookup = guardedLookup(isAllowed, resolve)

  function connect(target: URL): NetSocket {
    const host = target.hostname.replace(/^\[|\]$/g, '')
    const isSecure = target.protocol === 'https:'
    const place = { host, port: Number(target.port) || (isSecure ? 443 : 80), lookup }
    if (!isSecure) return connectPlain(place)
    // Set explicitly, because an environment variable could otherwise turn verification off.
    const secure = {
      servername: isIP(host) === 0 ? host : '',
      ALPNProtocols: ['h2'],
      rejectUnauthorized: true,
    }
    return connectSecure({ ...place, ...secure })
  }

  return {
    async open(request) {
      const { url, subject, handshakeMs, signal } = request
      signal?.throwIfAborted()
      const target = parseTarget(url)
      const literal = literalOf(target.hostname)
      if (literal !== undefined && !isAllowed(literal)) throw refusedAddress(subject)
      // Loaded at the first use, because no start needs it.
      const http2 = await import('node:http2')
      signal?.throwIfAborted()
      const session = http2.connect(target.origin, { createConnection: () => connect(target) })
      const { promise, resolve: opened, reject } = Promise.withResolvers<Socket>()
      const fail = (error: Error): void => {
        session.destroy()
        reject(signal?.aborted === true ? (signal.reason as Error) : toOutgoingError(error, subject))
      }
      const timer = clock.after(handshakeMs, () => fail(new ExchangeLimit('answer-time')))
      const onAbort = (): void => fail(signal?.reason as Error)
      signal?.addEventListener('abort', onAbort, { once: true })
      session.once('error', fail)
      session.once('connect', () => {
        timer.cancel()
        session.off('error', fail)
        opened(new Call(session, target, request).handle)
      })
      session.once('close', () => {
        timer.cancel()
        signal?.removeEventListener('abort', onAbort)
      })
      return await promise
    },
  }
}

class Call {
  readonly #session: ClientHttp2Session
  readonly #stream: ClientHttp2Stream
  readonly #request: SocketRequest
  #pending: Buffer = Buffer.alloc(0)
  #end: SocketEnd | undefined
  #closing: NodeJS.Timeout | undefined

  constructor(session: ClientHttp2Session, target: URL, request: SocketRequest) {
    this.#session = session
    this.#request = request
    this.#stream = session.request({
      ':method': 'POST',
      ':path': target.pathname,
      'content-type': 'application/grpc',
      te: 'trailers',
      ...request.headers,
    })
    const stream = this.#stream
    stream.on('response', (headers) => this.#head(headers))
    stream.on('trailers', (headers) => this.#status(headers))
    stream.on('data', (chunk: Buffer) => this.#data(chunk))
    // A server that ends the call waits for no more messages of the client.
    stream.on('end', () => session.destroy())
    // The end of the stream reports the reason.
    stream.on('error', () => undefined)
    session.on('error', () => undefined)
    stream.once('close', () => this.#closed())
  }

  get handle(): Socket {
    const stream = this.#stream
    const session = this.#session
    return {
      send: (message) => this.#send(typeof message === 'string' ? Buffer.from(message) : message),
      close: () => this.#close(),
      cut: () => session.destroy(),
      pause: () => void stream.pause(),
      resume: () => void stream.resume(),
      ping: () => void (!session.destroyed && session.ping(() => undefined)),
      get bufferedBytes() {
        return stream.writableLength
      },
    }
  }

  //  0      1        5
  //  +------+--------+---------
  //  | 0    | length | message
  //  +------+--------+---------
  #send(message: Uint8Array): void {
    const stream = this.#stream
    if (stream.destroyed || stream.writableEnded) return
    if (message.length === 0) return void stream.end()
    const prefix = Buffer.alloc(prefixBytes)
    prefix.writeUInt32BE(message.length, 1)
    stream.write(Buffer.concat([prefix, message]))
  }

  #close(): void {
    if (this.#stream.destroyed) return
    this.#stream.end()
    this.#closing ??= setTimeout(() => this.#session.destroy(), closeMs)
  }

  #data(chunk: Buffer): void {
    const { heard, received, maxMessageBytes, subject } = this.#request
    this.#pending = Buffer.concat([this.#pending, chunk])
    while (this.#pending.length >= prefixBytes) {
      const length = this.#pending.readUInt32BE(1)
      if (length > maxMessageBytes || this.#pending[0] !== 0) {
        this.#end ??= { code: 1009, because: `${subject} sent a message that is longer than accepted` }
        return this.#session.destroy()
      }
      if (this.#pending.length < prefixBytes + length) break
      const message = this.#pending.subarray(prefixBytes, prefixBytes + length)
      this.#pending = this.#pending.subarray(prefixBytes + length)
      heard(message)
    }
    received?.(chunk.length)
  }

  #head(headers: IncomingHttpHeaders): void {
    const status = Number(headers[':status'])
    if (status !== 200)
      this.#end ??= { code: 1011, because: `${this.#request.subject} responded with ${status}` }
    this.#status(headers)
  }

  #status(headers: IncomingHttpHeaders): void {
    const status = headers['grpc-status']
    if (status === undefined) return
    const sentence = String(headers['grpc-message'] ?? '')
    const said = sentence === '' ? '' : ` (${unescaped(sentence).slice(0, 200)})`
    const because = `${this.#request.subject} ended the call with status ${Number(status)}${said}`
    this.#end ??= { code: Number(status) === 0 ? 1000 : grpcEnds + Number(status), because }
  }

  #closed(): void {
    clearTimeout(this.#closing)
    this.#session.destroy()
    const { closed, subject } = this.#request
    closed(this.#end ?? { code: 1006, because: `the connection to ${subject} broke` })
  }
}

/** Returns a message of gRPC, whose characters are escaped as in a URL. */
function unescaped(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
