// The HTTP client for every URL that a customer names: hooks, audio, application variables, speech vendors. It is
// bounded in time and bytes, guarded by address, and uses no redirects, proxies or content encodings.
import type { Readable } from 'node:stream'
import type { Agent } from 'undici'
import { actingTenant } from '../lib/acting-for.ts'
import { createAddressGuard, literalOf, parseTarget } from '../network/address-guard.ts'
import { systemClock, type Clock } from '../lib/clock.ts'
import type { Logger } from '../lib/log.ts'
import type { OutgoingAnswer, OutgoingRequest, Outgoing, StreamedBody } from './outgoing.ts'
import { createNames } from '../network/create-names.ts'
import type { ResolvedAddress } from '../network/names.ts'
import type { ThreadTime } from '../lib/bounds/thread-time.ts'
import { TenantPool } from '../lib/bounds/tenant-pool.ts'
import { converse } from './conversation.ts'
import { createSockets } from './create-sockets.ts'
import { Exchange } from './exchange.ts'
import type { Charge } from './sent-requests.ts'
import { isLostConnection, refusedAddress, toOutgoingError } from './errors.ts'

export interface OutgoingOptions {
  /** CIDR ranges that may be reached although they are not public unicast. */
  readonly allow: readonly string[]
  readonly log: Logger
  readonly clock?: Clock
  /** Where the time to read an answer is charged to the tenant that asked. */
  readonly threadTime?: ThreadTime
  readonly connectTimeoutMs?: number
  readonly maxConnectionsPerOrigin?: number
  readonly maxRunning?: number
  /** The most running requests, in percent, that one tenant may have while no other has any. */
  readonly sharePercent?: number
  /** Resolves names; by default as the machine does. */
  readonly resolve?: (hostname: string) => Promise<readonly ResolvedAddress[]>
}

export function createOutgoing(options: OutgoingOptions): Outgoing {
  const { log, threadTime, clock = systemClock, maxRunning = 2000, connectTimeoutMs = 3000 } = options
  const { resolve = createNames({ clock }).lookup } = options
  const isAllowed = createAddressGuard(options.allow)
  const sockets = createSockets({ allow: options.allow, resolve, clock })
  /** One for each conversation, to cut it. */
  const conversations = new Set<AbortController>()
  let opened: Promise<Agent> | undefined
  let isClosed = false

  /**
   * Opens the agent. The HTTP library is loaded for the first request: it has a hundred modules, and no start should
   * wait for them.
   */
  async function open(): Promise<Agent> {
    const { createAgent } = await import('./agent.ts')
    const { maxConnectionsPerOrigin: maxConnections } = options
    return createAgent({ isAllowed, resolve, connectTimeoutMs, maxConnections, clock })
  }

  function agentOf(): Promise<Agent> {
    if (isClosed) throw new Error('the client is closed')
    return (opened ??= open())
  }

  const running = new TenantPool({
    size: maxRunning,
    percent: options.sharePercent,
    tooMany: 'too many outgoing requests are running',
  })

  async function attempt(target: URL, request: OutgoingRequest, deadline: number): Promise<OutgoingAnswer> {
    const agent = await agentOf()
    request.signal?.throwIfAborted()
    const tenant = actingTenant()
    const charge: Charge = (work) => (threadTime === undefined ? work() : threadTime.charge(tenant, work))
    const exchange = new Exchange(request, { clock, deadline, charge })
    agent.dispatch(
      {
        origin: target.origin,
        path: target.pathname + target.search,
        method: request.method,
        headers: { 'accept-encoding': 'identity', ...lengthOf(request), ...request.headers },
        body: bodyOf(request),
      },
      exchange,
    )
    try {
      return await exchange.answer
    } catch (error) {
      // The other side may close a kept-alive connection just as we write to it. The request got no response on it, so
      // the receiver has not failed: the request is sent once more.
      const isStale = !exchange.hasHead && exchange.isOnKept && isLostConnection(error)
      if (isStale && clock.monotonic() < deadline) throw new StaleConnection('stale', { cause: error })
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
        const failure = toOutgoingError(
          error instanceof StaleConnection ? error.cause : error,
          request.subject,
        )
        log.debug({ origin: target.origin, code: failure.code, err: failure }, 'outgoing request failed')
        throw failure
      } finally {
        running.give(tenant, 1)
      }
    },
    async converse(conversation) {
      const { url, subject, signal } = conversation
      signal?.throwIfAborted()
      const target = parseTarget(url.replace(/^ws/i, 'http'))
      const literal = literalOf(target.hostname)
      if (literal !== undefined && !isAllowed(literal)) throw refusedAddress(subject)
      // RFC 6455 §3: the URL of a WebSocket has no fragment, and a request over HTTP leaves it out as well.
      target.hash = ''
      const address = target.href.replace(/^http/, 'ws')
      if (isClosed) throw new Error('the client is closed')
      const cut = new AbortController()
      const signals = signal === undefined ? [cut.signal] : [signal, cut.signal]
      const tenant = actingTenant()
      running.take(tenant, 1)
      conversations.add(cut)
      try {
        await converse({ ...conversation, url: address, signal: AbortSignal.any(signals) }, sockets, clock)
      } catch (error) {
        throw cut.signal.aborted ? toOutgoingError(error, subject) : error
      } finally {
        conversations.delete(cut)
        running.give(tenant, 1)
      }
    },
    async close() {
      isClosed = true
      for (const cut of conversations) cut.abort(new Error('the client was closed'))
      const agent = await opened
      if (agent?.destroyed === false) await agent.destroy()
    },
  }
}

/** Returns the content length. Without it a stream would be sent in chunks, which storage vendors refuse. */
function lengthOf({ body }: OutgoingRequest): Readonly<Record<string, string>> {
  return isStreamed(body) ? { 'content-length': String(body.bytes) } : {}
}

function bodyOf({ body }: OutgoingRequest): string | Uint8Array | Readable | null {
  return isStreamed(body) ? body.open() : (body ?? null)
}

function isStreamed(body: OutgoingRequest['body']): body is StreamedBody {
  return typeof body === 'object' && 'open' in body
}

class StaleConnection extends Error {}

/** Returns the same client for one piece of work: all its requests end when the signal aborts. */
export function endingWith(signal: AbortSignal, outgoing: Outgoing): Outgoing {
  return {
    ...outgoing,
    request: (request) => outgoing.request({ ...request, signal }),
    converse: (conversation) => outgoing.converse({ ...conversation, signal }),
  }
}
