// Storage as the handler of one request sees it: changes are made in the name of its caller, and nothing more is read for a
// client that has gone.
import type { Asker } from '../../lib/asker.ts'
import type { Tenancy } from '../../lib/caller.ts'
import type { Maker, Repositories, TableName } from '../../storage/storage.ts'
import type { ApiReading, ApiStorage } from '../services.ts'

export interface RequestStorageOptions {
  readonly storage: ApiStorage
  readonly maker: Maker
  /** Undefined where the request is carried through, even if its client leaves. */
  readonly asker: Asker | undefined
}

/** There is one for every request, and a handler uses one or two of its members: each is made when it is used. */
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

  readFor(asker: Asker | undefined): ApiReading {
    return this.#storage.readFor(asker)
  }

  get recentCalls(): ApiStorage['recentCalls'] {
    return this.#storage.readFor(this.#asker).recentCalls
  }

  get journal(): ApiStorage['journal'] {
    return this.#storage.readFor(this.#asker).journal
  }

  get alerts(): ApiStorage['alerts'] {
    const { alerts } = this.#storage
    return { raise: (alert) => alerts.raise(alert), ...this.#storage.readFor(this.#asker).alerts }
  }

  get audit(): ApiStorage['audit'] {
    const { audit } = this.#storage
    return { note: (deed) => audit.note(deed, this.#maker), ...this.#storage.readFor(this.#asker).audit }
  }
}
