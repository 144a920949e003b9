// Storage as the handler of one request sees it, whichever handler it is: what changes is changed in the name of whoever
// asks, and nothing more is read for a client that has gone.
import type { Asker } from '../../lib/asker.ts'
import type { Tenancy } from '../../lib/caller.ts'
import type { Maker, Repositories, TableName } from '../../storage/storage.ts'
import type { ApiStorage } from './context.ts'

export interface RequestStorageOptions {
  readonly storage: ApiStorage
  readonly maker: Maker
  /** Undefined where the request is carried through, whoever waits for its answer. */
  readonly asker: Asker | undefined
}

/** Its members are made when they are asked for: there is one for every request, and a handler uses one or two. */
export class RequestStorage implements ApiStorage {
  readonly #storage: ApiStorage
  readonly #maker: Maker
  readonly #asker: Asker | undefined

  constructor({ storage, maker, asker }: RequestStorageOptions) {
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

  get isShared(): boolean {
    return this.#storage.isShared
  }

  get idempotency(): ApiStorage['idempotency'] {
    return this.#storage.idempotency
  }

  get recentCalls(): ApiStorage['recentCalls'] {
    const asker = this.#asker
    const { recentCalls } = this.#storage
    return {
      page: (tenancy, account_sid, query) => recentCalls.page(tenancy, account_sid, query, asker),
      pageOfProvider: (tenancy, service_provider_sid, query) =>
        recentCalls.pageOfProvider(tenancy, service_provider_sid, query, asker),
      find: (tenancy, account_sid, call_sid) => recentCalls.find(tenancy, account_sid, call_sid, asker),
      bySipCallId: (tenancy, owner, sip_call_id) =>
        recentCalls.bySipCallId(tenancy, owner, sip_call_id, asker),
    }
  }

  get journal(): ApiStorage['journal'] {
    const { journal } = this.#storage
    return {
      read: (tenancy, account_sid, call_sid) => journal.read(tenancy, account_sid, call_sid, this.#asker),
    }
  }

  get alerts(): ApiStorage['alerts'] {
    const { alerts } = this.#storage
    return {
      raise: (alert) => alerts.raise(alert),
      page: (tenancy, owner, query) => alerts.page(tenancy, owner, query, this.#asker),
    }
  }

  get audit(): ApiStorage['audit'] {
    const { audit } = this.#storage
    return {
      page: (tenancy, query) => audit.page(tenancy, query, this.#asker),
      verify: () => audit.verify(this.#asker),
      note: (deed) => audit.note(deed, this.#maker),
    }
  }
}
