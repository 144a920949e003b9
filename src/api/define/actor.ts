// In whose name a request changes rows. Every change of a handler goes through the storage made here, so that none reaches the
// audit log without its maker.
import type { HttpRequest } from '../../http/route.ts'
import type { Actor } from '../../storage/storage.ts'
import type { Services } from '../services.ts'
import { RequestStorage } from './request-storage.ts'
import type { ApiRoute } from './route.ts'

export function actorOf({ caller, requestId: request_id, address }: HttpRequest): Actor {
  return { principal: caller?.principal, request_id, address }
}

/**
 * The services of one request. A GET changes nothing unless it declares `isChanging`. The other methods are carried through once
 * the request is there: a client that left could not know how much of a change was made.
 */
export function servicesFor(
  request: HttpRequest,
  { method, isChanging = false }: Pick<ApiRoute, 'method' | 'isChanging'>,
  services: Services,
): Services {
  const maker = method !== 'GET' || isChanging ? actorOf(request) : 'reader'
  const asker = method === 'GET' ? request.asker : undefined
  return { ...services, storage: new RequestStorage({ storage: services.storage, maker, asker }) }
}
