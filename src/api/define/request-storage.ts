// The storage of one request: every change is made in the name of its caller, so that none reaches the audit log without
// one, and nothing more is read for a client that has gone.
import type { HttpRequest } from '../../http/route.ts'
import type { Asker } from '../../lib/asker.ts'
import type { Tenancy } from '../../contracts/caller.ts'
import type { Actor, Maker, Repositories, TableName } from '../../storage/storage.ts'
import type { ApiReading, ApiStorage, Services } from '../services.ts'
import type { ApiRoute } from './route.ts'

export function actorOf({ caller, requestId: request_id, address }: HttpRequest): Actor {
  return { principal: caller?.principal, request_id, address }
}

/**
 * The services of one request. A GET changes nothing, unless it says so with `isChanging`. The other methods are carried
 * through even if the client leaves: half of a change is none, and the client could not know whether it was made.
 */
export function servicesFor(
  request: HttpRequest,
  { method, isChanging = false }: Pick<ApiRoute, 'method' | 'isChanging'>,
  services: Services,
): Services {
  const maker = method !== 'GET' || isChanging ? actorOf(request) : 'reader'
  const asker = method === 'GET' ? request.asker : undefined
  return { ...services, storage: new RequestStorage(services.storage, maker, asker) }
}

/** A class, since there is one for every request: its members are made when a handler uses them, which is one or two. */
class RequestStorage implements ApiStorage {
  readonly #storage: ApiStorage
  readonly #maker: Maker
  readonly #asker: Asker | undefined

  constructor(storage: ApiStorage, maker: Maker, asker: Asker | undefined) {
    this.#storage = storage
    this.#maker = maker
    this.#asker = asker
  }

  for(tenancy: Tenancy): Repositories {
    return this.#storage.for(tenancy, this.#maker, this.#asker)
  }

  transaction<R>(tenancy: Tenancy, work: (repositories: Repositories) => Promise<R>): Promise<R> {
    return this.#storage.transaction(tenancy, work, this.#maker)
  }

  revision(tables?: readonly TableName[]): number {
    return this.#storage.revision(tables)
  }

  revisionOfKnown(tables: readonly TableName[]): number {
    return this.#storage.revisionOfKnown(tables)
  }

  readFor(asker: Asker | undefined): ApiReading {
    return this.#storage.readFor(asker)
  }

  get isShared(): boolean {
    return this.#storage.isShared
  }

  get idempotency(): ApiStorage['idempotency'] {
    return this.#storage.idempotency
  }

  get recentCalls(): ApiStorage['recentCalls'] {
    return this.readFor(this.#asker).recentCalls
  }

  get journal(): ApiStorage['journal'] {
    return this.readFor(this.#asker).journal
  }

  get alerts(): ApiStorage['alerts'] {
    const { alerts } = this.#storage
    return { raise: (alert) => alerts.raise(alert), ...this.readFor(this.#asker).alerts }
  }

  get audit(): ApiStorage['audit'] {
    const { audit } = this.#storage
    return { note: (deed) => audit.note(deed, this.#maker), ...this.readFor(this.#asker).audit }
  }
}
