// The client for WebSockets that stay open. It may go where HTTP may: each host, also that of a redirect, passes the
// guard.
import type { ClientRequest, ClientRequestArgs, IncomingMessage } from 'node:http'
import { connect as connectPlain, isIP, type Socket as NetSocket } from 'node:net'
import { connect as connectSecure } from 'node:tls'
import type { WebSocket } from 'ws'
import type { Clock } from '../lib/clock.ts'
import { createAddressGuard, literalOf, parseTarget, type AddressGuard } from '../network/address-guard.ts'
import { EndlessAnswer, ExchangeLimit, refusedAddress, toOutgoingError } from './errors.ts'
import { guardedLookup, type Resolve } from './guarded-lookup.ts'
import { maxInterim } from './interim-answers.ts'
import { boundFarewell } from './socket-farewell.ts'
import { endOf, refusal, tooManyControls } from './socket-ends.ts'
import type { Socket, SocketRequest, Sockets } from './sockets.ts'

export interface SocketsOptions {
  /** CIDR ranges that may be reached although they are not public unicast. */
  readonly allow: readonly string[]
  readonly resolve: Resolve
  readonly clock: Clock
}

/** The time for the other side's close frame. */
const closeMs = 2000
/** The most fragments of one message: 4 MiB in pieces of 4 KiB. */
const maxFragments = 1024
/** The most bytes of the head of a handshake, with the interim responses before it. What it begins may follow in the same read. */
const maxHandshakeBytes = 32 * 1024
/** The bounds on the body of a refusal, which may say why. */
const reasonMs = 1000
const maxReasonBytes = 4096
const maxUnreadPongBytes = 64 * 1024
/** The most pings and pongs in a second. A peer that sends more takes the thread from others, and its socket is cut. */
const maxControlsPerSecond = 100

export function createSockets({ allow, resolve, clock }: SocketsOptions): Sockets {
  const createConnection = createConnect(createAddressGuard(allow), resolve)
  return {
    async open(request) {
      const { url, headers, protocols, maxRedirects, maxMessageBytes, signal } = request
      signal?.throwIfAborted()
      let network: NetSocket | undefined
      let isOpen = false
      const connect: typeof createConnection = (options) => {
        network = createConnection(options)
        boundHandshake(network, () => !isOpen)
        return network
      }
      parseTarget(url.replace(/^ws/i, 'http'))
      const wishes = {
        headers: { ...headers },
        followRedirects: maxRedirects > 0,
        maxRedirects,
        maxPayload: maxMessageBytes,
        perMessageDeflate: false,
        closeTimeout: closeMs,
        rejectUnauthorized: true,
        autoPong: false,
        // One read of the network may hold thirty thousand frames: each is handled in a turn of its own, between other events.
        allowSynchronousEvents: false,
        maxFragments,
        createConnection: connect as typeof connectPlain,
        finishRequest: sendBounded,
      }
      // Loaded at the first use, because no start needs it.
      const ws = await import('ws')
      signal?.throwIfAborted()
      const socket = new ws.WebSocket(url, [...protocols], wishes)
      socket.on('upgrade', (response: IncomingMessage) => {
        // The library treats a server that picks no protocol as one that speaks none of them.
        const [first] = protocols
        if (first !== undefined) response.headers['sec-websocket-protocol'] ??= first
      })
      const { received } = request
      socket.once('open', () => {
        isOpen = true
        if (network === undefined) return
        boundFarewell(socket, { network, clock, maxBytes: maxMessageBytes })
        // This listener comes after the library's, which has then read the same bytes.
        if (received !== undefined) network.on('data', (bytes: Buffer) => received(bytes.length))
      })
      return await opened(socket, request, clock)
    },
  }
}

/** Resolves when the socket is open. From then on its end is reported to `closed` only. */
function opened(socket: WebSocket, request: SocketRequest, clock: Clock): Promise<Socket> {
  const { subject, handshakeMs, heard, closed, signal } = request
  const { promise, resolve, reject } = Promise.withResolvers<Socket>()
  let failure: Error | undefined
  let isOpen = false
  const fail = (error: Error): void => {
    failure ??= error
    socket.terminate()
  }
  const timer = clock.after(handshakeMs, () => fail(new ExchangeLimit('answer-time')))
  const onAbort = (): void => fail(signal?.reason as Error)
  signal?.addEventListener('abort', onAbort, { once: true })
  // Before the handshake an error is the reason why there is no socket, afterwards why it breaks. An end follows
  // either way.
  socket.on('error', (error) => {
    failure ??= error
  })
  socket.on('unexpected-response', (asked, response) => {
    const status = response.statusCode ?? 0
    const refused = (failure ??= refusal({ subject, status }))
    const chunks: Buffer[] = []
    const give = (): void => {
      tooLong.cancel()
      const body = Buffer.concat(chunks)
      const contentType = (response.headers['content-type'] ?? '').toLowerCase()
      if (failure === refused) failure = refusal({ subject, status, contentType, body })
      asked.destroy()
      socket.terminate()
    }
    const tooLong = clock.after(reasonMs, give)
    response.on('error', give)
    response.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      if (chunks.reduce((sum, { length }) => sum + length, 0) > maxReasonBytes) give()
    })
    response.once('close', give)
  })
  socket.once('open', () => {
    isOpen = true
    timer.cancel()
    resolve(handleOf(socket))
  })
  let [controls, sinceMs] = [0, clock.monotonic()]
  /** Counts a ping or a pong. Returns false once there are too many. */
  const mayControl = (): boolean => {
    if (failure !== undefined) return false
    const nowMs = clock.monotonic()
    if (nowMs - sinceMs >= 1000) [controls, sinceMs] = [0, nowMs]
    controls += 1
    if (controls > maxControlsPerSecond)
      fail(Object.assign(new Error('too many pings or pongs'), { code: tooManyControls }))
    return controls <= maxControlsPerSecond
  }
  socket.on('ping', (data: Buffer) => {
    if (!mayControl()) return
    request.controlled?.()
    // A peer that does not read its pongs gets no further ones.
    if (socket.readyState === openState && socket.bufferedAmount < maxUnreadPongBytes) socket.pong(data)
  })
  socket.on('pong', () => void (mayControl() && request.controlled?.()))
  socket.on('message', (data: Buffer, isBinary) => heard(isBinary ? data : data.toString('utf8')))
  socket.once('close', (code: number, reason: Buffer) => {
    timer.cancel()
    signal?.removeEventListener('abort', onAbort)
    if (isOpen) return closed(endOf({ subject, code, reason: reason.toString('utf8'), failure }))
    if (signal?.aborted === true) return reject(signal.reason)
    reject(toOutgoingError(failure ?? new Error('closed'), subject))
  })
  return promise
}

/** Cuts a connection whose server sends more than a handshake needs. */
function boundHandshake(network: NetSocket, isBounded: () => boolean): void {
  let bytes = 0
  const push = network.push.bind(network)
  network.push = (chunk: unknown, encoding) => {
    if (!isBounded() || !(chunk instanceof Uint8Array)) return push(chunk, encoding)
    if (bytes <= maxHandshakeBytes) {
      bytes += chunk.length
      return push(chunk, encoding)
    }
    network.destroy(new EndlessAnswer('too many headers or interim responses'))
    return false
  }
}

/** Sends a handshake, and gives it up when interim responses come without end (RFC 9110 §15.2). */
function sendBounded(handshake: ClientRequest, socket: WebSocket): void {
  let interim = 0
  handshake.on('information', () => {
    interim += 1
    if (interim !== maxInterim + 1) return
    // The bytes that were read with these may open the socket, unless it is closing.
    socket.emit('error', new EndlessAnswer(`more than ${maxInterim} interim responses`))
    socket.terminate()
  })
  handshake.end()
}

function handleOf(socket: WebSocket): Socket {
  const isUp = (): boolean => socket.readyState === openState
  // A message that cannot be written breaks the socket, and the socket's end reports it.
  const ignored = (): void => undefined
  return {
    send: (message) => void (isUp() && socket.send(message, ignored)),
    close: (code, reason) => void (isUp() && socket.close(code, reason)),
    cut: () => socket.terminate(),
    pause: () => void (isUp() && socket.pause()),
    resume: () => void (isUp() && socket.resume()),
    ping: () => void (isUp() && socket.ping(undefined, undefined, ignored)),
    get bufferedBytes() {
      return socket.bufferedAmount
    },
  }
}

/** Returns a connect function; an error that it throws fails the handshake. */
function createConnect(
  isAllowed: AddressGuard,
  resolve: Resolve,
): (options: ClientRequestArgs & { readonly socketPath?: string | undefined }) => NetSocket {
  const lookup = guardedLookup(isAllowed, resolve)
  return ({ host, port, defaultPort, socketPath }) => {
    // A redirect may name a Unix socket of this machine.
    if (typeof host !== 'string' || socketPath !== undefined) throw refusedAddress('the host')
    const literal = literalOf(host)
    if (literal !== undefined && !isAllowed(literal)) throw refusedAddress('the host')
    const place = { host, port: Number(port), lookup }
    if (defaultPort !== securePort) return connectPlain(place)
    // Set explicitly, because an environment variable could otherwise turn verification off.
    return connectSecure({ ...place, servername: isIP(host) === 0 ? host : '', rejectUnauthorized: true })
  }
}

const securePort = 443
/** `WebSocket.OPEN`. */
const openState = 1
