// The connections of the one client: HTTP/1.1, kept alive, each to an address that was checked.
import { Agent, buildConnector } from 'undici'
import type { AddressGuard } from '../network/address-guard.ts'
import { literalOf } from '../network/address-guard.ts'
import { refusedAddress } from './errors.ts'
import { guardedLookup } from './guarded-lookup.ts'
import type { Resolve } from './guarded-lookup.ts'

export interface AgentOptions {
  readonly isAllowed: AddressGuard
  readonly resolve: Resolve
  readonly connectTimeoutMs: number
  /** To one origin. */
  readonly maxConnections?: number | undefined
}

// WebSockets bring transcripts and control messages.
const maxMessageBytes = 1024 * 1024

export function createAgent(options: AgentOptions): Agent {
  return new Agent({
    connect: createConnector(options),
    // HTTP/1.1 only: one request per connection at a time, so that a slow response holds up no other.
    allowH2: false,
    connections: options.maxConnections ?? 128,
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
}

/** Checks what a socket is about to connect to: literals before, names with the addresses their one lookup gave. */
function createConnector({ isAllowed, resolve, connectTimeoutMs }: AgentOptions): buildConnector.connector {
  const connect = buildConnector({
    timeout: connectTimeoutMs,
    allowH2: false,
    // Stated, because an environment variable could otherwise turn it off.
    rejectUnauthorized: true,
    autoSelectFamily: true,
    lookup: guardedLookup(isAllowed, resolve),
  })
  return (target, callback) => {
    const literal = literalOf(target.hostname)
    if (literal === undefined || isAllowed(literal)) return connect(target, callback)
    queueMicrotask(() => callback(refusedAddress('the host'), null))
  }
}
