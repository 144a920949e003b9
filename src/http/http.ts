// The HTTP server as the rest of the program sees it: what it is made of, and what it can do.
import type { FastifyInstance } from 'fastify'
import type { TlsIdentity } from '../certificates/tls-server.ts'
import type { WebSocketTaker } from '../network/web-socket-upgrade.ts'
import type { Clock } from '../lib/clock.ts'
import type { Part } from '../lib/lifecycle.ts'
import type { Logger } from '../lib/log.ts'
import type { Authenticator } from './authentication.ts'
import type { RateLimits } from './limits/rate-limits.ts'
import type { HttpPage, HttpRoute } from './route.ts'

export interface HttpServerOptions {
  readonly bind: string
  readonly port: number
  /** The same over TLS, at a port of its own; 0 for any free one. Left out, there is none. */
  readonly secure?: { readonly port: number; readonly identity: () => TlsIdentity } | undefined
  /** What WebSockets that are asked for at either port are handed to. Left out, there are none. */
  readonly webSockets?: WebSocketTaker | undefined
  /** What is found below /.well-known/acme-challenge/ (RFC 8555 §8.3). Left out, nothing is. */
  readonly acmeAnswer?: ((token: string) => Promise<string | undefined>) | undefined
  /** Before every route's path: `/v1`. */
  readonly prefix: string
  readonly routes: readonly HttpRoute[]
  readonly pages?: readonly HttpPage[]
  readonly authenticator: Authenticator
  /** Without them there is no limit. */
  readonly rateLimits?: RateLimits | undefined
  /** CIDR ranges of reverse proxies whose X-Forwarded-For names the real address. */
  readonly trustedProxies?: readonly string[] | undefined
  /** For all clients together. */
  readonly maxConnections?: number
  /** Whether the whole platform is up, for /health. */
  readonly isReady: () => boolean
  /** Whether what calls and requests write is kept, for /health. */
  readonly canWrite?: (() => Promise<boolean>) | undefined
  readonly clock: Clock
  readonly log: Logger
}

export interface HttpServer extends Part {
  /** Where it listens, known after start (port 0 = any free port). */
  readonly address: { readonly address: string; readonly port: number }
  /** The port of HTTPS, known after start. */
  readonly securePort: number | undefined
  /** A request without a socket, for tests and tools. */
  readonly inject: FastifyInstance['inject']
}
