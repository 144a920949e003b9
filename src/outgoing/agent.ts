// The connections of the HTTP client: HTTP/1.1, kept alive, each to an address that was checked.
import { Agent, buildConnector } from 'undici'
import type { Clock } from '../lib/clock.ts'
import { literalOf, type AddressGuard } from '../network/address-guard.ts'
import { boundAnswers } from './bounded-answers.ts'
import { refusedAddress } from './errors.ts'
import { guardedLookup, type Resolve } from './guarded-lookup.ts'

export interface AgentOptions {
  readonly isAllowed: AddressGuard
  readonly resolve: Resolve
  readonly connectTimeoutMs: number
  readonly clock: Clock
  /** The most connections to one origin. */
  readonly maxConnections?: number | undefined
}

export function createAgent(options: AgentOptions): Agent {
  return new Agent({
    connect: createConnector(options),
    // HTTP/1.1 only: one request per connection at a time, so that a slow response holds up no other.
    allowH2: false,
    connections: options.maxConnections ?? 128,
    // This is less than the five seconds after which many servers close, so that no request is sent on a closing
    // connection.
    keepAliveTimeout: 4000,
    keepAliveMaxTimeout: 60_000,
    // A name that moves to another machine is resolved again within a minute, even under steady load.
    clientTtl: 60_000,
    // Exchange keeps these times; a second set of timers per request would be wasted.
    headersTimeout: 0,
    bodyTimeout: 0,
    // Headers and trailers are bounded before they are parsed. At its own bound the library makes an error for each further
    // field that it has read, which took a tenth of a second.
    maxHeaderSize: 16 * 1024 * 1024,
  })
}

/**
 * Returns a connector that checks the target of each socket: a literal address before connecting, a name by the
 * addresses of its only lookup.
 */
function createConnector({
  isAllowed,
  resolve,
  connectTimeoutMs,
  clock,
}: AgentOptions): buildConnector.connector {
  const connect = buildConnector({
    timeout: connectTimeoutMs,
    allowH2: false,
    // Set explicitly, because an environment variable could otherwise turn verification off.
    rejectUnauthorized: true,
    autoSelectFamily: true,
    lookup: guardedLookup(isAllowed, resolve),
  })
  return (target, callback) => {
    const literal = literalOf(target.hostname)
    if (literal !== undefined && !isAllowed(literal))
      return queueMicrotask(() => callback(refusedAddress('the host'), null))
    connect(target, (...result) => {
      const [error, socket] = result
      if (error === null) boundAnswers(socket, clock)
      callback(...result)
    })
  }
}
