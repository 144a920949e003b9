// Idempotency-Key: a POST that is sent again has its effect once and is answered as before. No resource knows of it.
import type { HttpRequest } from '../../http/route.ts'
import type { Principal } from '../../lib/caller.ts'
import { AppError } from '../../lib/errors.ts'
import type { Answer, KeptAnswer, OnceRequest } from '../../storage/idempotency.ts'
import { actorOf } from './acting.ts'
import type { Services } from './context.ts'
import type { ApiRoute } from './route.ts'

export const keyHeader = 'idempotency-key'
const replayedHeader = 'idempotency-replayed'

/** Runs a handler with services whose changes are its own to commit. */
type Run = (services: Services) => Promise<unknown>

export interface Once {
  /** Answers as the first request with this key was answered; runs the handler when it is the first. */
  run(request: HttpRequest, key: RequestKey, work: Run): Promise<unknown>
}

/** Of this process: what is being answered just now, and what it was asked. */
export type InFlight = Map<string, string>

export function createOnce(
  { method, path, reply }: Pick<ApiRoute, 'method' | 'path' | 'reply'>,
  services: Services,
  inFlight: InFlight,
): Once {
  const { storage } = services
  const route = `${method} ${path}`

  async function attempt(request: HttpRequest, once: OnceRequest, work: Run): Promise<unknown> {
    const kept = await storage.idempotency.find(once)
    if (kept !== undefined) return replay(kept, once, request)
    const made = await storage.idempotency.once(once, actorOf(request), async (unit): Promise<Answer> => {
      const body = await work({ ...services, storage: { ...storage, ...unit } })
      return { status: body === undefined ? 204 : reply.status, body }
    })
    if (made !== undefined) return made.body
    // Another process was faster: what this one did is undone, and the other's answer stands.
    const others = await storage.idempotency.find(once)
    if (others === undefined) throw inProgress()
    return replay(others, once, request)
  }

  return {
    async run(request, { principal, key }, work) {
      const fingerprint = storage.idempotency.fingerprint(
        JSON.stringify([route, request.params, request.query, request.body ?? null]),
      )
      const name = `${principal} ${key}`
      const running = inFlight.get(name)
      if (running !== undefined) throw running === fingerprint ? inProgress() : reused()
      inFlight.set(name, fingerprint)
      try {
        return await attempt(request, { principal, key, route, fingerprint }, work)
      } finally {
        inFlight.delete(name)
      }
    },
  }
}

function replay(kept: KeptAnswer, { fingerprint }: OnceRequest, { head }: HttpRequest): unknown {
  if (kept.fingerprint !== fingerprint) throw reused()
  head.header(replayedHeader, 'true')
  return kept.body
}

/**
 * Keys belong to callers: where nobody is authenticated there are none. What is answered with sound or a file changes
 * nothing.
 */
export function takesIdempotencyKey({ method, access, reply }: ApiRoute): boolean {
  return method === 'POST' && access !== 'public' && reply.mediaType === undefined
}

export type RequestKey = Pick<OnceRequest, 'principal' | 'key'>

function nameOf(principal: Principal): string {
  return principal.kind === 'api_key' ? `api_key:${principal.api_key_sid}` : `user:${principal.user_sid}`
}

/** Undefined when the request has none, or none that counts. */
export function requestKeyOf(request: HttpRequest, route: ApiRoute): RequestKey | undefined {
  const key = request.headers[keyHeader]
  if (key === undefined || request.caller === undefined || !takesIdempotencyKey(route)) return undefined
  if (typeof key !== 'string' || !/^[\x21-\x7e]{1,255}$/.test(key))
    throw new AppError('bad_request', 'Idempotency-Key must have 1 to 255 visible ASCII characters')
  return { principal: nameOf(request.caller.principal), key }
}

function inProgress(): AppError {
  return new AppError('request_in_progress', 'a request with this Idempotency-Key is being answered')
}

function reused(): AppError {
  return new AppError('idempotency_key_reused', 'this Idempotency-Key was sent with another request')
}
