// Idempotency-Key: a repeated POST has its effect once, and gets the first response. Only routes with `keepsKey` handle
// it.
import type { HttpRequest } from '../../http/route.ts'
import type { Principal } from '../../contracts/caller.ts'
import { AppError } from '../../lib/errors.ts'
import type { KeptResponse, OnceRequest } from '../../storage/idempotency.ts'
import type { Actor } from '../../storage/storage.ts'
import type { ApiStorage, Services } from '../services.ts'
import type { ApiRoute } from './route.ts'
import type { Done, KeyOwner, Work } from './request.ts'
import type { Noted } from './unknown-fields.ts'

export const keyHeader = 'idempotency-key'
const replayedHeader = 'idempotency-replayed'

export interface Once {
  /** Does the work if this is the first request with the key; otherwise returns the first answer. */
  run<A>(request: HttpRequest & Noted, key: RequestKey, work: Work<A>): Promise<A>
}

/** The keys whose requests this process is working on, each with the fingerprint of its request. */
export type InFlight = Map<string, string>

interface OnceOptions {
  readonly services: Services
  readonly storage: ApiStorage
  readonly inFlight: InFlight
}

export function actorOf({ caller, requestId, address, unknownFields }: HttpRequest & Noted): Actor {
  const { principal, tenancy } = caller ?? {}
  return { principal, tenancy, request_id: requestId, address, unknown_fields: unknownFields }
}

export function createOnce(
  { method, path, reply }: Pick<ApiRoute, 'method' | 'path' | 'reply'>,
  { services, storage, inFlight }: OnceOptions,
): Once {
  const { idempotency } = storage
  const route = `${method} ${path}`

  async function answer<A>(request: HttpRequest & Noted, once: OnceRequest, work: Work<A>): Promise<A> {
    const kept = await idempotency.find(once)
    if (kept !== undefined) return replay(kept, once, request)
    const made = await make(request, once, work)
    if (made !== undefined) {
      await made.afterwards?.()
      return made.answer
    }
    const others = await idempotency.find(once)
    if (others === undefined) throw inProgress()
    return replay(others, once, request)
  }

  /** Returns undefined if another process was faster; the work of this one is then undone. */
  async function make<A>(
    request: HttpRequest & Noted,
    once: OnceRequest,
    work: Work<A>,
  ): Promise<Done<A> | undefined> {
    const maker = actorOf(request)
    let isDone = false
    try {
      return await idempotency.once(once, maker, async (unit) => {
        const done = await work({ ...services, storage: { ...storage.boundTo({ maker }), ...unit } })
        isDone = true
        return { ...done, status: done.answer === undefined ? 204 : reply.status, body: done.answer }
      })
    } catch (error) {
      // The work may have failed because the other process has taken a name. If the commit failed, a stored answer may
      // be this process's own, and what should follow it has not happened.
      if (isDone || (await idempotency.find(once)) === undefined) throw error
      return undefined
    }
  }

  return {
    async run(request, { owner: principal, key }, work) {
      const { params, query, body = null } = request
      const fingerprint = idempotency.fingerprint(JSON.stringify([route, params, query, body]))
      const name = `${principal} ${key}`
      const running = inFlight.get(name)
      if (running !== undefined) throw running === fingerprint ? inProgress() : reused()
      inFlight.set(name, fingerprint)
      try {
        return await answer(request, { principal, key, route, fingerprint }, work)
      } finally {
        inFlight.delete(name)
      }
    },
  }
}

/** Returns a stored answer. The fingerprint names the route, so it has the route's type. */
function replay<A>(kept: KeptResponse, { fingerprint }: OnceRequest, { head }: HttpRequest): A {
  if (kept.fingerprint !== fingerprint) throw reused()
  head.header(replayedHeader, 'true')
  return kept.body as A
}

export function takesIdempotencyKey({ method }: Pick<ApiRoute, 'method'>): boolean {
  return method === 'POST'
}

export interface RequestKey {
  readonly owner: KeyOwner
  readonly key: string
}

export function ofCaller(principal: Principal): KeyOwner {
  return principal.kind === 'api_key' ? `api_key:${principal.api_key_sid}` : ofUser(principal.user_sid)
}

export function ofUser(user_sid: string): KeyOwner {
  return `user:${user_sid}`
}

/** Returns the owner of keys if the caller is not known. */
export function ofAddress(address: string): KeyOwner {
  return `address:${address}`
}

/** Returns undefined if the request has no key, or the route takes none. */
export function keyOf({ headers }: Pick<HttpRequest, 'headers'>, route: ApiRoute): string | undefined {
  const key = headers[keyHeader]
  if (key === undefined || !takesIdempotencyKey(route)) return undefined
  if (typeof key !== 'string' || !/^[\x21-\x7e]{1,255}$/.test(key))
    throw new AppError('bad_request', 'Idempotency-Key must have 1 to 255 visible ASCII characters')
  return key
}

function inProgress(): AppError {
  return new AppError('request_in_progress', 'a request with this Idempotency-Key is being answered')
}

function reused(): AppError {
  return new AppError('idempotency_key_reused', 'this Idempotency-Key was sent with another request')
}
