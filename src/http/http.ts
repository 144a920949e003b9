// The types of the HTTP server for the rest of the program: its options and its operations.
import type { FastifyInstance } from 'fastify'
import type { TlsIdentity } from '../certificates/tls-server.ts'
import type { WebSocketTaker } from '../network/web-socket-upgrade.ts'
import type { Clock } from '../lib/clock.ts'
import type { Part } from '../lib/lifecycle.ts'
import type { Logger } from '../lib/log.ts'
import type { Authenticator } from './authentication.ts'
import type { RateLimits } from './limits/rate-limits.ts'
import type { RequestTime } from './limits/request-time.ts'
import type { HttpPage, HttpRoute } from './route.ts'

export interface HttpServerOptions {
  readonly bind: string
  readonly port: number
  /** HTTPS, at a port of its own; 0 means any free one. Without it, HTTPS is not served. */
  readonly secure?: { readonly port: number; readonly identity: () => TlsIdentity } | undefined
  /** The handler of WebSockets that are requested at either port. Without it, there are none. */
  readonly webSockets?: WebSocketTaker | undefined
  /** Returns the response below /.well-known/acme-challenge/ (RFC 8555 §8.3), if there is any. */
  readonly acmeAnswer?: ((token: string) => Promise<string | undefined>) | undefined
  /** The prefix of every route's path: `/v1`. */
  readonly prefix: string
  readonly routes: readonly HttpRoute[]
  readonly pages?: readonly HttpPage[]
  readonly authenticator: Authenticator
  /** Without it, requests are not limited. */
  readonly rateLimits?: RateLimits | undefined
  /** Without it, the time of requests is not bounded. */
  readonly requestTime?: RequestTime | undefined
  /** CIDR ranges of reverse proxies whose X-Forwarded-For names the real address. */
  readonly trustedProxies?: readonly string[] | undefined
  /** The limit for all clients together. */
  readonly maxConnections?: number
  /** Whether the whole platform is up, for /health. */
  readonly isReady: () => boolean
  /** Why it is not ready. */
  readonly unready?: (() => 'starting' | 'stopping') | undefined
  /** Reports whether writes are stored, for /health. */
  readonly trouble?: (() => Promise<string | undefined>) | undefined
  readonly clock: Clock
  readonly log: Logger
}

export interface HttpServer extends Part {
  /** Its address, set after start (port 0 = any free port). */
  readonly address: { readonly address: string; readonly port: number }
  /** The port of HTTPS, set after start. */
  readonly securePort: number | undefined
  /** Sends a request without a socket, for tests and tools. */
  readonly inject: FastifyInstance['inject']
}
