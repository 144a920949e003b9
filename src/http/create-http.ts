// The HTTP server: tolerant paths, bounded input, one id per request, one shape for every refusal.
import { Readable } from 'node:stream'
import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { Caller } from '../contracts/caller.ts'
import { AppError } from '../lib/errors.ts'
import { hostFieldsOf } from '../network/host-fields.ts'
import { toListenError } from '../network/listen-error.ts'
import type { Logger } from '../lib/log.ts'
import type { Authenticator } from './authentication.ts'
import { addBodyParsers } from './body-parsers.ts'
import { HttpClient, isClientGone } from './client-gone.ts'
import { Entrance, isWebSocket } from './entrance.ts'
import type { HttpServer, HttpServerOptions } from './http.ts'
import { KnownPaths } from './known-paths.ts'
import { maxBodyBytes, maxStrangerBytes } from './parse-body.ts'
import { createPageHandler } from './pages.ts'
import { addPlatformRoutes } from './platform-routes.ts'
import { nearer, type Verdict } from './limits/rate-limits.ts'
import { createRefusal, createRouteRefusal, logGone, refuseUnparsable } from './refusals.ts'
import { requestIdOf } from './request-id.ts'
import { jsonType, responseHeaders } from './response-headers.ts'
import type { HttpRoute } from './route.ts'
import { createReplyShape } from './reply-shape.ts'
import { demandAccess } from './scopes.ts'

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller | undefined
    /** The limit that is nearest to refusing the sender. */
    nearestLimit: Verdict | undefined
  }
}

// Request line and headers together. The longest valid path and query are far shorter.
const maxHeaderBytes = 16_384
// The longest path parameter is a SIP realm of 132 characters, percent-encoded in the worst case.
const maxParamLength = 400
const defaultMaxConnections = 10_000
// The time that a stop waits for requests in progress.
const closeTimeoutMs = 5000

export function createHttp(options: HttpServerOptions): HttpServer {
  const { bind, port, routes, clock, log, secure } = options
  const { maxConnections = defaultMaxConnections, trustedProxies = [] } = options
  const server = createFastify(log, trustedProxies)
  const entrance = new Entrance(server.server, { ...options, maxConnections, trustedProxies })
  addBodyParsers(server)
  const paths = new KnownPaths()
  for (const { method, path, whenEmpty } of routes)
    if (whenEmpty !== undefined) paths.addParametric(method, options.prefix + path, whenEmpty)
  addHooks(server, paths, options)
  const pages = options.pages ?? []
  addPlatformRoutes(
    server,
    options,
    pages.find(({ path }) => path === '/'),
  )
  for (const page of pages) if (page.path !== '/') server.get(page.path, createPageHandler(page))
  for (const route of routes) addRoute(server, route, options)
  // Kept because every call uses it, and the system takes time to report it.
  let bound: { address: string; port: number } | undefined
  let securePort: number | undefined
  const failed = (error: unknown, setting: string, at: number): unknown =>
    toListenError(error, { setting, transport: 'TCP', address: bind, port: at })

  return {
    name: 'http',
    async start() {
      try {
        await server.listen({ host: bind, port })
      } catch (error) {
        throw failed(error, 'SWITCHHOOK_HTTP_PORT', port)
      }
      bound = addressOf(server)
      log.info({ ...bound }, 'http listening')
      if (secure === undefined) return
      try {
        securePort = await entrance.listen(bind, secure)
      } catch (error) {
        throw failed(error, 'SWITCHHOOK_HTTPS_PORT', secure.port)
      }
      log.info({ address: bind, port: securePort }, 'https listening')
    },
    async stop() {
      const timer = clock.after(closeTimeoutMs, () => {
        server.server.closeAllConnections()
        entrance.closeAll()
      })
      await Promise.all([entrance.stop(), server.close()])
      timer.cancel()
    },
    get address() {
      return bound ?? addressOf(server)
    },
    get securePort() {
      return securePort
    },
    inject: server.inject.bind(server) as FastifyInstance['inject'],
  }
}

function createFastify(log: Logger, trustedProxies: readonly string[] = []): FastifyInstance {
  const refuse = createRefusal(log)
  const server = fastify({
    logger: false,
    genReqId: requestIdOf,
    requestIdHeader: false,
    bodyLimit: maxStrangerBytes,
    // The proxies whose X-Forwarded-For is trusted.
    trustProxy: trustedProxies.length === 0 ? false : [...trustedProxies],
    // Slow senders: headers within 10 s, the whole request within 30 s. An idle socket is closed.
    requestTimeout: 30_000,
    connectionTimeout: 120_000,
    keepAliveTimeout: 65_000,
    forceCloseConnections: 'idle',
    http: {
      maxHeaderSize: maxHeaderBytes,
      headersTimeout: 10_000,
      connectionsCheckingInterval: 5000,
      // Java requests h2c with each request, curl with --http2: the response is HTTP/1.1.
      shouldUpgradeCallback: isWebSocket,
    },
    clientErrorHandler: refuseUnparsable,
    frameworkErrors: (error, request, reply) => void refuse(error, request, reply.headers(responseHeaders)),
    routerOptions: {
      caseSensitive: false,
      ignoreTrailingSlash: true,
      ignoreDuplicateSlashes: true,
      maxParamLength,
    },
  })
  // Fastify would refuse this one method without a Content-Type, even at paths that do not exist.
  return server.addHttpMethod('QUERY', { hasBody: false, overrideExisting: true })
}

function addHooks(server: FastifyInstance, paths: KnownPaths, { log, rateLimits }: HttpServerOptions): void {
  server.decorateRequest('caller', undefined)
  server.decorateRequest('nearestLimit', undefined)
  const policy = rateLimits?.policyOf()
  const headers = policy === undefined ? responseHeaders : { ...responseHeaders, 'ratelimit-policy': policy }
  server.addHook('onRequest', (request, reply, done) => {
    reply.headers(headers).header('x-request-id', request.id)
    // Health checks and preflights are not counted.
    const isCounted = rateLimits !== undefined && request.method !== 'OPTIONS' && !isHealth(request.url)
    if (isCounted) enforceRateLimit(rateLimits.ofAddress(request.ip), reply)
    if (hostFieldsOf(request.raw.rawHeaders) > 1)
      return done(new AppError('bad_request', 'the request has more than one Host header'))
    done()
  })
  addRefusals(server, paths, log)
}

function addRefusals(server: FastifyInstance, paths: KnownPaths, log: Logger): void {
  const refuse = createRefusal(log)
  server.setErrorHandler(refuse)
  server.addHook('onRoute', ({ method, url }) => {
    if (url !== '*') paths.add(method, url)
  })
  server.setNotFoundHandler((request, reply) => {
    const empty = paths.emptyAt(request.method, request.url)
    if (empty !== undefined) return refuse(empty, request, reply)
    const methods = paths.methodsAt(request.url)
    if (methods.length === 0) return refuse(new AppError('no_such_route', 'no such route'), request, reply)
    const message = `this path does not take the method ${request.method}`
    return refuse(
      new AppError('method_not_allowed', message),
      request,
      reply.header('allow', methods.join(', ')),
    )
  })
}

function isHealth(url: string): boolean {
  return url === '/health' || url === '/'
}

/** Sets the header of the limit that is nearest to refusing, and throws too_many_requests when it refuses. */
function enforceRateLimit(verdict: Verdict | undefined, reply: FastifyReply): void {
  if (verdict === undefined) return
  const { request } = reply
  request.nearestLimit = nearer(request.nearestLimit, verdict)
  reply.header('ratelimit', request.nearestLimit.state)
  if (verdict.isAllowed) return
  const { message, retryAfterSeconds } = verdict
  throw new AppError('too_many_requests', message, { retryAfterSeconds })
}

function addRoute(
  server: FastifyInstance,
  route: HttpRoute,
  { prefix, authenticator, rateLimits, requestTime, log }: HttpServerOptions,
): void {
  const { status, method, path } = route
  const shape = createReplyShape(route)
  const conclude = (body: unknown, reply: FastifyReply): unknown => {
    if (isClientGone(reply.raw)) logGone(log, reply, 'carried through')
    if (body === undefined && route.emptyStatus !== undefined) return reply.code(route.emptyStatus).send()
    shape?.(reply)
    return reply.request.method === 'HEAD' ? withoutStream(body) : body
  }
  server.route({
    method,
    url: prefix + path.replace(/\{(\w+)\}/g, ':$1'),
    onResponse: (request, reply, done) => {
      const { statusCode, elapsedTime } = reply
      log.debug(
        { request_id: request.id, method, path, status: statusCode, duration_ms: elapsedTime },
        'request answered',
      )
      done()
    },
    // Runs before the body is read: that of a refused caller is not read.
    ...(route.access === 'public'
      ? {}
      : {
          onRequest: createAccessHook(route, authenticator, { rateLimits, requestTime }),
          bodyLimit: maxBodyBytes,
        }),
    ...(route.asRefusal === undefined ? {} : { errorHandler: createRouteRefusal(route.asRefusal, log) }),
    handler(request, reply) {
      reply.code(status)
      if (route.mediaType !== undefined) reply.type(contentTypeOf(route.mediaType))
      const handled = route.handle({
        params: request.params as Record<string, string>,
        query: request.query as Record<string, unknown>,
        body: request.body,
        caller: request.caller,
        headers: request.headers,
        requestId: request.id,
        address: request.ip,
        asker: new HttpClient(reply.raw),
        head: reply,
      })
      // The usual GET does without a further promise.
      const isUsual = request.method === 'GET' && route.emptyStatus === undefined
      if (isUsual) shape?.(reply)
      return isUsual ? handled : handled.then((body) => conclude(body, reply))
    },
  })
}

/** Returns the body; destroys a stream instead, since a response to HEAD has no body. */
function withoutStream(body: unknown): unknown {
  return body instanceof Readable ? body.destroy() : body
}

function contentTypeOf(mediaType: string): string {
  return mediaType === 'application/json' ? jsonType : mediaType
}

/** Makes no promise if the caller is cached: most requests reach their handler without a wait. */
function createAccessHook(
  route: HttpRoute,
  authenticator: Authenticator,
  { rateLimits, requestTime }: Pick<HttpServerOptions, 'rateLimits' | 'requestTime'>,
) {
  const admit = (request: FastifyRequest, reply: FastifyReply, caller: Caller): void => {
    if (rateLimits !== undefined) {
      if (caller.quotas !== undefined) reply.header('ratelimit-policy', rateLimits.policyOf(caller))
      enforceRateLimit(rateLimits.ofCaller(caller), reply)
    }
    demandAccess(route, caller)
    const tenant = tenantOf(caller)
    if (requestTime !== undefined && tenant !== undefined) {
      requestTime.demand(tenant)
      chargeAtItsEnd(reply, (bytes) => requestTime.answered(tenant, bytes))
    }
    request.caller = caller
  }
  const ask = async (
    request: FastifyRequest,
    reply: FastifyReply,
    caller: Promise<Caller>,
    done: Done,
  ): Promise<void> => {
    let failure: unknown
    try {
      admit(request, reply, await caller)
    } catch (error) {
      failure = error
    }
    done(failure as Error | undefined)
  }
  return (request: FastifyRequest, reply: FastifyReply, done: Done): void => {
    const caller = authenticator.authenticate(request.headers.authorization)
    if (caller instanceof Promise) return void ask(request, reply, caller, done)
    admit(request, reply, caller)
    done()
  }
}

/** Returns the account or provider of the caller; undefined for administrators. */
function tenantOf({ tenancy }: Caller): string | undefined {
  if (tenancy.level === 'account') return tenancy.account_sid
  return tenancy.level === 'service_provider' ? tenancy.service_provider_sid : undefined
}

function chargeAtItsEnd(
  { raw, request }: FastifyReply,
  charge: (bytes: { readonly received: number; readonly sent: number }) => void,
): void {
  const { socket } = request.raw
  const before = { received: socket.bytesRead, sent: socket.bytesWritten }
  raw.once('close', () => {
    // The beginning of a body comes with its head.
    const named = Number(request.headers['content-length'] ?? 0)
    const received = Math.max(named, socket.bytesRead - before.received)
    const sent = socket.bytesWritten - before.sent
    // Requests without a socket, as tests send them, have no bytes.
    if (received >= 0 && sent >= 0) charge({ received, sent })
  })
}

type Done = (error?: Error) => void

function addressOf(server: FastifyInstance): { address: string; port: number } {
  const bound = server.server.address()
  if (bound === null || typeof bound === 'string') throw new Error('http is not listening')
  return { address: bound.address, port: bound.port }
}
