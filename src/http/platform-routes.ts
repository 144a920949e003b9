// The routes outside the API: health, the page for a browser at the root, challenges of ACME, preflights.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../lib/errors.ts'
import type { HttpServerOptions } from './http.ts'
import { createPageHandler, wantsPage } from './pages.ts'
import { preflightHeaders } from './response-headers.ts'
import type { HttpPage } from './route.ts'

export function addPlatformRoutes(
  server: FastifyInstance,
  {
    isReady,
    unready,
    trouble,
    acmeAnswer,
  }: Pick<HttpServerOptions, 'isReady' | 'unready' | 'trouble' | 'acmeAnswer'>,
  welcome: HttpPage | undefined,
): void {
  const health = async (_request: FastifyRequest, reply: FastifyReply): Promise<object> => {
    // Before the platform is up and while it drains, load balancers should choose another node.
    const reason = isReady() ? await trouble?.() : (unready?.() ?? 'starting')
    return reason === undefined ? { status: 'ok' } : reply.code(503).send({ status: 'unavailable', reason })
  }
  const welcomeBrowser = welcome === undefined ? undefined : createPageHandler(welcome)
  server.get('/', async (request, reply) => {
    reply.header('vary', 'accept')
    const isBrowser = welcomeBrowser !== undefined && wantsPage(request.headers.accept)
    return isBrowser ? welcomeBrowser(request, reply) : health(request, reply)
  })
  server.get('/health', health)
  if (acmeAnswer !== undefined)
    server.get('/.well-known/acme-challenge/:token', async ({ params }, reply) => {
      const answer = await acmeAnswer((params as { token: string }).token)
      if (answer === undefined) throw new AppError('no_such_route', 'no such challenge')
      return reply.type('application/octet-stream').send(answer)
    })
  // A preflight carries no token, and may be for any method and path.
  server.options('*', async (_request, reply) => reply.code(204).headers(preflightHeaders).send())
}
