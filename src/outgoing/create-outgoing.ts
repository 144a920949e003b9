// The one client for every URL a customer names: hooks, audio, application variables, speech vendors.
// Bounded in time and bytes, guarded by address, without redirects, proxies or content encodings.
import type { LookupFunction } from 'node:net'
import { Agent, buildConnector } from 'undici'
import { actingTenant } from '../lib/acting-for.ts'
import { createAddressGuard, literalOf, parseTarget } from '../network/address-guard.ts'
import type { AddressGuard } from '../network/address-guard.ts'
import { systemClock } from '../lib/clock.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError } from '../lib/errors.ts'
import type { Logger } from '../lib/log.ts'
import { converse } from './conversation.ts'
import type { OutgoingAnswer, OutgoingRequest, Outgoing } from './outgoing.ts'
import { createNames } from '../network/create-names.ts'
import type { ResolvedAddress } from '../network/names.ts'
import { TenantPool } from '../lib/tenant-pool.ts'
import { Exchange } from './exchange.ts'
import { isLostConnection, toOutgoingError } from './errors.ts'

export interface OutgoingOptions {
  /** CIDR ranges that may be reached although they are not public unicast. */
  readonly allow: readonly string[]
  readonly log: Logger
  readonly clock?: Clock
  readonly connectTimeoutMs?: number
  readonly maxConnectionsPerOrigin?: number
  readonly maxRunning?: number
  /** The most of them that may be of one tenant while no other has any, in percent. */
  readonly sharePercent?: number
  /** Name resolution; by default that of the machine. */
  readonly resolve?: (hostname: string) => Promise<readonly ResolvedAddress[]>
}

// WebSockets bring transcripts and control messages.
const maxMessageBytes = 1024 * 1024

export function createOutgoing(options: OutgoingOptions): Outgoing {
  const { log, clock = systemClock, maxRunning = 2000, connectTimeoutMs = 3000 } = options
  const { resolve = createNames({ clock }).lookup } = options
  const isAllowed = createAddressGuard(options.allow)
  const agent = new Agent({
    connect: createConnector(isAllowed, connectTimeoutMs, resolve),
    // HTTP/1.1 only: one request per connection at a time, so that a slow response holds up no other.
    allowH2: false,
    connections: options.maxConnectionsPerOrigin ?? 128,
    // Under the five seconds after which many servers close: a request must not meet a closing connection.
    keepAliveTimeout: 4000,
    keepAliveMaxTimeout: 60_000,
    // A name that moves to another machine is looked up again within a minute, also under steady load.
    clientTtl: 60_000,
    // Exchange keeps the time; a second set of timers per request would only cost.
    headersTimeout: 0,
    bodyTimeout: 0,
    webSocket: { maxPayloadSize: maxMessageBytes },
  })
  const running = new TenantPool({
    size: maxRunning,
    percent: options.sharePercent,
    tooMany: 'too many outgoing requests are running',
  })
  let connects = 0
  agent.on('connect', () => connects++)

  async function attempt(target: URL, request: OutgoingRequest, deadline: number): Promise<OutgoingAnswer> {
    const connectsBefore = connects
    const exchange = new Exchange(request, clock, deadline)
    agent.dispatch(
      {
        origin: target.origin,
        path: target.pathname + target.search,
        method: request.method,
        headers: { 'accept-encoding': 'identity', ...request.headers },
        body: request.body ?? null,
      },
      exchange,
    )
    try {
      return await exchange.answer
    } catch (error) {
      // A kept-alive connection may be closed by the other side just as we write to it. The request was not
      // answered and no new connection was involved, so that is no failure of the receiver: say it once more.
      const isStale = !exchange.hasHead && connects === connectsBefore && isLostConnection(error)
      if (isStale && clock.monotonic() < deadline) throw new StaleConnection()
      throw error
    }
  }

  return {
    async request(request) {
      request.signal?.throwIfAborted()
      const target = parseTarget(request.url)
      const literal = literalOf(target.hostname)
      if (literal !== undefined && !isAllowed(literal)) throw refusedAddress(request.subject)
      const deadline = clock.monotonic() + request.totalTimeoutMs
      const tenant = actingTenant()
      running.take(tenant, 1)
      try {
        return await attempt(target, request, deadline).catch((error: unknown) => {
          if (!(error instanceof StaleConnection)) throw error
          return attempt(target, request, deadline)
        })
      } catch (error) {
        if (request.signal?.aborted === true) throw request.signal.reason
        const failure = toOutgoingError(error, request.subject)
        log.debug({ origin: target.origin, code: failure.code, err: failure }, 'outgoing request failed')
        throw failure
      } finally {
        running.give(tenant, 1)
      }
    },
    async converse(conversation) {
      const { url, subject, signal } = conversation
      signal?.throwIfAborted()
      const literal = literalOf(parseTarget(url.replace(/^ws/i, 'http')).hostname)
      if (literal !== undefined && !isAllowed(literal)) throw refusedAddress(subject)
      const tenant = actingTenant()
      running.take(tenant, 1)
      try {
        await converse(conversation, agent, clock)
      } finally {
        running.give(tenant, 1)
      }
    },
    async close() {
      if (!agent.destroyed) await agent.destroy()
    },
  }
}

class StaleConnection extends Error {}

/** The same client for one piece of work: all its requests end when the signal aborts. */
export function endingWith(signal: AbortSignal, outgoing: Outgoing): Outgoing {
  return {
    ...outgoing,
    request: (request) => outgoing.request({ ...request, signal }),
    converse: (conversation) => outgoing.converse({ ...conversation, signal }),
  }
}

/** Checks what a socket is about to connect to: literals before, names with the addresses their one lookup gave. */
function createConnector(
  isAllowed: AddressGuard,
  timeoutMs: number,
  resolve: (hostname: string) => Promise<readonly ResolvedAddress[]>,
): buildConnector.connector {
  // Only checked addresses go on to the socket, which makes no lookup of its own that could answer differently.
  const answerLookup = async (
    hostname: string,
    wantsAll: boolean,
    callback: Parameters<LookupFunction>[2],
  ): Promise<void> => {
    let allowed: ResolvedAddress[]
    try {
      allowed = (await resolve(hostname)).filter(({ address }) => isAllowed(address))
    } catch (error) {
      return callback(error instanceof Error ? error : new Error(String(error)), '', 0)
    }
    const [first] = allowed
    if (first === undefined) callback(refusedAddress('the host'), '', 0)
    else if (wantsAll) callback(null, allowed)
    else callback(null, first.address, first.family)
  }
  const connect = buildConnector({
    timeout: timeoutMs,
    allowH2: false,
    // Stated, because an environment variable could otherwise turn it off.
    rejectUnauthorized: true,
    autoSelectFamily: true,
    lookup: (hostname, { all }, callback) => void answerLookup(hostname, all === true, callback),
  })
  return (target, callback) => {
    const literal = literalOf(target.hostname)
    if (literal === undefined || isAllowed(literal)) return connect(target, callback)
    queueMicrotask(() => callback(refusedAddress('the host'), null))
  }
}

function refusedAddress(subject: string): AppError {
  return new AppError('hook_refused_address', `${subject} is at an address that may not be reached`)
}
