// In whose name a request changes rows. Every change of a handler goes through what is made here, so that none reaches
// the audit log without its maker.
import type { HttpRequest } from '../../http/route.ts'
import type { Actor, Maker } from '../../storage/storage.ts'
import type { Services } from './context.ts'

/** The services of one request that changes something. */
export function servicesActingFor(request: HttpRequest, services: Services): Services {
  return madeBy(actorOf(request), services)
}

export function actorOf({ caller, requestId: request_id, address }: HttpRequest): Actor {
  return { principal: caller?.principal, request_id, address }
}

/** The services of the requests that only read; a GET that changes something says so with `isChanging`. */
export function servicesForReading(services: Services): Services {
  return madeBy('nobody', services)
}

function madeBy(maker: Maker, services: Services): Services {
  const { storage } = services
  return {
    ...services,
    storage: {
      ...storage,
      for: (tenancy) => storage.for(tenancy, maker),
      transaction: (tenancy, work) => storage.transaction(tenancy, work, maker),
    },
  }
}
