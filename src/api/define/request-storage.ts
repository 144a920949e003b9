// The storage of one request: every change is made in the name of its caller, so that none reaches the audit log without
// one, and nothing more is read for a client that has gone.
import type { HttpRequest } from '../../http/route.ts'
import type { Actor } from '../../storage/storage.ts'
import type { ApiReading, ApiStorage, Services } from '../services.ts'
import type { ApiRoute } from './route.ts'

export function actorOf({ caller, requestId: request_id, address }: HttpRequest): Actor {
  return { principal: caller?.principal, request_id, address }
}

/**
 * The services of one request. A GET changes nothing, unless it says so with `isChanging`. The other methods are carried
 * through even if the client leaves: half of a change is none, and the client could not tell whether it was made.
 */
export function servicesFor(
  request: HttpRequest,
  { method, isChanging = false }: Pick<ApiRoute, 'method' | 'isChanging'>,
  services: Services,
): Services {
  const { storage } = services
  const maker = method !== 'GET' || isChanging ? actorOf(request) : 'reader'
  const asker = method === 'GET' ? request.asker : undefined
  const reading = (): ApiReading => storage.readFor(asker)
  const own: ApiStorage = {
    ...storage,
    for: (tenancy) => storage.for(tenancy, maker, asker),
    transaction: (tenancy, work) => storage.transaction(tenancy, work, maker),
    // A handler uses one or two of these: each is made when it is used.
    get recentCalls() {
      return reading().recentCalls
    },
    get journal() {
      return reading().journal
    },
    get alerts(): ApiStorage['alerts'] {
      return { raise: (alert) => storage.alerts.raise(alert), ...reading().alerts }
    },
    get audit(): ApiStorage['audit'] {
      return { note: (deed) => storage.audit.note(deed, maker), ...reading().audit }
    },
  }
  return { ...services, storage: own }
}
