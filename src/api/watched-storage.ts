// Storage that tells when something authentication rests on has changed, so that the next request after a key is
// revoked or a user disabled is refused, whichever handler did it.
import type { IdempotencyStore, UnitStorage } from '../storage/idempotency.ts'
import type { Repositories, Storage, TableName } from '../storage/storage.ts'
import { createLazyRepositories } from '../storage/lazy-repositories.ts'
import { repositoryOf } from './define/rows.ts'
import type { AnyRepository } from './define/rows.ts'

/** What a caller's rights are made of. */
const watched: ReadonlySet<TableName> = new Set<TableName>([
  'accounts',
  'api_keys',
  'limits',
  'service_providers',
  'user_sessions',
  'users',
])

interface Writable extends Pick<Storage, 'for' | 'transaction'> {
  readonly idempotency: IdempotencyStore
}

/** `onChange` runs once a change is durable and before its maker is told. */
export function watchStorage<S extends Writable>(storage: S, onChange: () => void): S {
  const { idempotency } = storage
  return {
    ...storage,
    for: (tenancy, maker, asker) => {
      const rows = storage.for(tenancy, maker, asker)
      return maker === 'nobody' ? rows : watchRepositories(rows, onChange)
    },
    idempotency: {
      ...idempotency,
      async once(request, actor, work) {
        let hasChanged = false
        const answer = await idempotency.once(request, actor, (unit) =>
          work(
            watchUnit(unit, () => {
              hasChanged = true
            }),
          ),
        )
        if (hasChanged) onChange()
        return answer
      },
    },
    async transaction(tenancy, work, maker) {
      let hasChanged = false
      const result = await storage.transaction(
        tenancy,
        (rows) =>
          work(
            watchRepositories(rows, () => {
              hasChanged = true
            }),
          ),
        maker,
      )
      if (hasChanged) onChange()
      return result
    },
  }
}

/** What changes in here is told of when all of it is committed. */
function watchUnit(unit: UnitStorage, onChange: () => void): UnitStorage {
  return {
    for: (tenancy) => watchRepositories(unit.for(tenancy), onChange),
    transaction: (tenancy, work) =>
      unit.transaction(tenancy, (rows) => work(watchRepositories(rows, onChange))),
  }
}

function watchRepositories(rows: Repositories, onChange: () => void): Repositories {
  return createLazyRepositories((table) =>
    watched.has(table) ? watchRepository(rows, table, onChange) : rows[table],
  )
}

/** New rows are of no interest, for nobody can have been told about them; but a new limit binds old callers. */
function watchRepository(rows: Repositories, table: TableName, onChange: () => void): AnyRepository {
  const repository = repositoryOf(rows, table)
  return {
    find: (sid) => repository.find(sid),
    findMany: (sids) => repository.findMany(sids),
    list: (options) => repository.list(options),
    listPieces: (pieces, options) => repository.listPieces(pieces, options),
    count: (options) => repository.count(options),
    async insert(row) {
      const made = await repository.insert(row)
      if (table === 'limits') onChange()
      return made
    },
    async update(sid, changes) {
      const isDone = await repository.update(sid, changes)
      onChange()
      return isDone
    },
    async remove(sid) {
      const isDone = await repository.remove(sid)
      onChange()
      return isDone
    },
  }
}
