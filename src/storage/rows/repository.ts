// Repositories: they read and write a table within a tenancy, seal its secrets and explain the rules that a row breaks.
import { systemTenancy, type Tenancy } from '../../contracts/caller.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import { createSid } from '../../lib/ids.ts'
import { ownerIdsOf, type ChangeSet, type OwnerIds, type RowChange } from './change-set.ts'
import type { Cells, Database, Session } from '../database/database.ts'
import { descriptorOf, descriptors, isAtLeast, type AnyDescriptor, type Operation } from './descriptors.ts'
import { explainBrokenRule } from './explain-broken-rule.ts'
import { ownerOf } from './ownership.ts'
import {
  cellsOf,
  chunksOf,
  columnsOf,
  filterShapeOf,
  filterValues,
  listShapeOf,
  setters,
  withSecrets,
} from './row-cells.ts'
import type { Vault } from '../secrets.ts'
import type { Filter, ListOptions, Repositories, Repository, Row, TableName } from './rows.ts'
import { createTableQueries, reachOf, reachValues, type TableQueries } from './table-queries.ts'

/** Runs the statements of a repository directly, or within a transaction. */
export interface Runner {
  readonly reader: Session
  write<R>(work: (session: Session, changes: ChangeSet) => Promise<R>): Promise<R>
}

export interface RepositoryMaker {
  bind(tenancy: Tenancy, runner: Runner): Repositories
}

interface Context {
  readonly tenancy: Tenancy
  readonly runner: Runner
  readonly vault: Vault
  readonly clock: Clock
  readonly database: Database
  /** Plans for every table, because a row may point at rows of others. */
  readonly plans: { readonly [T in TableName]: Plan }
}

interface Plan<T extends TableName = TableName> {
  readonly table: T
  readonly descriptor: AnyDescriptor
  readonly queries: TableQueries
}

const tableNames = Object.keys(descriptors) as TableName[]

export function createRepositoryMaker(database: Database, vault: Vault, clock: Clock): RepositoryMaker {
  const plans = Object.fromEntries(
    tableNames.map((table): [TableName, Plan] => {
      const descriptor = descriptorOf(table)
      return [table, { table, descriptor, queries: createTableQueries(database, table, descriptor) }]
    }),
  ) as Context['plans']
  const listed = Object.values<Plan>(plans)
  return {
    bind(tenancy, runner) {
      const context = { tenancy, runner, vault, clock, database, plans }
      const bound: Partial<Record<TableName, unknown>> = {}
      // This runs for every request, so a repository is just two fields.
      for (const plan of listed) bound[plan.table] = new BoundRepository(plan, context)
      return bound as Repositories
    },
  }
}

class BoundRepository<T extends TableName> implements Repository<T> {
  readonly #plan: Plan<T>
  readonly #context: Context

  constructor(plan: Plan<T>, context: Context) {
    this.#plan = plan
    this.#context = context
  }

  async find(sid: string): Promise<Row<T> | undefined> {
    if (!this.#may('read')) return undefined
    const { tenancy, runner } = this.#context
    const [cells] = await this.#plan.queries
      .find(reachOf(tenancy))
      .all(runner.reader, { ...reachValues(tenancy), key: sid })
    return cells === undefined ? undefined : this.#decode(cells)
  }

  async findMany(sids: readonly string[]): Promise<Row<T>[]> {
    if (!this.#may('read')) return []
    const { tenancy, runner } = this.#context
    const found: Row<T>[] = []
    for (const chunk of chunksOf(sids)) {
      const query = this.#plan.queries.findMany(reachOf(tenancy), chunk.length)
      const keys = Object.fromEntries(chunk.map((sid, index) => [`key${index}`, sid]))
      for (const cells of await query.all(runner.reader, { ...reachValues(tenancy), ...keys }))
        found.push(this.#decode(cells))
    }
    return found
  }

  async list(options: ListOptions<Row<T>> = {}): Promise<Row<T>[]> {
    if (!this.#may('read')) return []
    const { tenancy, runner } = this.#context
    const rows = await this.#plan.queries
      .list(reachOf(tenancy), listShapeOf(options, this.#plan.descriptor))
      .all(runner.reader, {
        ...reachValues(tenancy),
        ...filterValues(options),
        limit: options.limit ?? Number.MAX_SAFE_INTEGER,
        offset: options.offset ?? 0,
        after: options.after,
      })
    return rows.map((cells) => this.#decode(cells))
  }

  async count(options: Filter<Row<T>> = {}): Promise<number> {
    if (!this.#may('read')) return 0
    const { tenancy, runner } = this.#context
    const [row] = await this.#plan.queries
      .count(reachOf(tenancy), filterShapeOf(options, this.#plan.descriptor))
      .all(runner.reader, { ...reachValues(tenancy), ...filterValues(options) })
    return Number(row?.['count'] ?? 0)
  }

  async insert(row: Partial<Row<T>>): Promise<Row<T>> {
    this.#demand('insert')
    const { runner, clock } = this.#context
    const { key } = this.#plan.descriptor
    const given = cellsOf(row)
    const sid = String(given[key] ?? createSid())
    const { owner, provider } = ownerOf(this.#plan.table, this.#context.tenancy, given)
    const cells = { created_at: clock.now(), ...given, ...owner, [key]: sid, version: 1 }
    return runner.write(async (session, made) => {
      await this.#demandReferences(session, cells, made)
      const columns = columnsOf(cells, provider)
      const query = this.#plan.queries.insert(columns, provider)
      try {
        const [inserted] = await query.all(session, setters(this.#encode(cells, sid)))
        if (inserted === undefined) throw new Error('an insert returned no row')
        const row = this.#decode(inserted)
        await this.#note(session, made, { sid, before: null, after: inserted })
        return row
      } catch (error) {
        throw this.#explain(error, cells, provider !== 'values')
      }
    })
  }

  async update(sid: string, changes: Partial<Row<T>>): Promise<boolean> {
    this.#demand('update')
    const { tenancy, runner } = this.#context
    const { key } = this.#plan.descriptor
    const given = cellsOf(changes)
    if (given[key] !== undefined && given[key] !== sid) throw new Error(`${key} of a record never changes`)
    const { version: _version, created_at: _created, ...changed } = given
    delete changed[key]
    const isMove = this.#plan.descriptor.owner.some((column) => changed[column] !== undefined)
    const { owner, provider } = isMove
      ? ownerOf(this.#plan.table, tenancy, changed)
      : { owner: {}, provider: 'values' as const }
    const cells: Cells = { ...changed, ...owner }
    if (Object.keys(cells).length === 0) return (await this.find(sid)) !== undefined
    const reach = reachOf(tenancy)
    return runner.write(async (session, made) => {
      await this.#demandReferences(session, cells, made)
      const values = { ...reachValues(tenancy), key: sid }
      const [before] = this.#isAudited(cells)
        ? await this.#plan.queries.findOwn(reach).all(session, values)
        : []
      try {
        const [after] = await this.#plan.queries
          .update(reach, columnsOf(cells, provider), provider)
          .all(session, { ...values, ...setters(this.#encode(cells, sid)) })
        if (after === undefined) return false
        if (before !== undefined) {
          const change = { sid, before: this.#opened(before), after: this.#opened(after) }
          await this.#note(session, made, change)
        }
        return true
      } catch (error) {
        throw this.#explain(error, cells, provider !== 'values')
      }
    })
  }

  async remove(sid: string): Promise<boolean> {
    this.#demand('remove')
    const { tenancy, runner, database } = this.#context
    return runner.write(async (session, made) => {
      try {
        const [removed] = await this.#plan.queries
          .remove(reachOf(tenancy))
          .all(session, { ...reachValues(tenancy), key: sid })
        if (removed === undefined) return false
        await this.#note(session, made, { sid, before: removed, after: null })
        return true
      } catch (error) {
        if (database.brokenRule(error)?.rule !== 'foreign_key') throw error
        throw new AppError('in_use', 'other records still refer to this one', {
          cause: error,
          detail: { table: this.#plan.table, sid },
        })
      }
    })
  }

  /** Reports whether a change of these columns is more than a trace of use. */
  #isAudited(cells: Cells): boolean {
    return Object.keys(cells).some((column) => !this.#plan.descriptor.unaudited.includes(column))
  }

  async #note(
    session: Session,
    made: ChangeSet,
    change: Pick<RowChange, 'sid' | 'before' | 'after'>,
  ): Promise<void> {
    const { tenancy } = this.#context
    const owner = await this.#ownerOf(session, change.after ?? change.before ?? {})
    const { table, descriptor } = this.#plan
    made.add({ ...change, table, descriptor, owner, tenancy })
  }

  async #ownerOf(session: Session, row: Cells): Promise<OwnerIds> {
    const { ownedThrough } = this.#plan.descriptor
    if (ownedThrough === undefined) return ownerIdsOf(this.#plan.descriptor, row)
    const { descriptor, queries } = this.#context.plans[ownedThrough.table]
    const key = row[ownedThrough.column] ?? null
    const [owning] = await queries.find(reachOf(systemTenancy)).all(session, { key })
    return ownerIdsOf(descriptor, owning ?? {})
  }

  /** Decrypts secrets to compare them. One that can no longer be decrypted must not prevent its row's repair. */
  #opened(cells: Cells): Cells {
    if (this.#plan.descriptor.secrets.length === 0) return cells
    try {
      return this.#decode(cells) as unknown as Cells
    } catch {
      return cells
    }
  }

  #may(operation: Operation): boolean {
    return isAtLeast(this.#context.tenancy.level, this.#plan.descriptor.minLevel[operation])
  }

  #demand(operation: Operation): void {
    if (!this.#may(operation))
      throw new AppError('not_permitted', 'insufficient permissions', {
        detail: { table: this.#plan.table, operation },
      })
  }

  /** Throws unless the writer can see every row that this one points at. Foreign and missing rows give one error. */
  async #demandReferences(session: Session, cells: Cells, made: ChangeSet): Promise<void> {
    const { tenancy, plans } = this.#context
    const { references, parent } = this.#plan.descriptor
    for (const { column, table } of references) {
      const sid = cells[column]
      if (sid === undefined || sid === null) continue
      // A record is often made right after the hooks it points at, so the tenancy that has just written a row sees it.
      if (made.hasWritten(tenancy, table, String(sid))) continue
      const { queries } = plans[table]
      const reach = reachOf(tenancy)
      const seen = await (column === parent ? queries.findOwn(reach) : queries.find(reach)).all(session, {
        ...reachValues(tenancy),
        key: sid,
      })
      if (seen.length === 0) throw new AppError('bad_request', `${column} names no existing record`)
    }
  }

  #encode(cells: Cells, row: string): Cells {
    const { vault } = this.#context
    return withSecrets(cells, this.#plan.descriptor.secrets, (text, column) =>
      vault.seal(text, { table: this.#plan.table, row, column }),
    )
  }

  #decode(cells: Cells): Row<T> {
    const { vault } = this.#context
    const row = String(cells[this.#plan.descriptor.key])
    // The columns of the table match its row type, which is generated from them.
    return withSecrets(cells, this.#plan.descriptor.secrets, (text, column) =>
      vault.unseal(text, { table: this.#plan.table, row, column }),
    ) as unknown as Row<T>
  }

  #explain(error: unknown, cells: Cells, askedForProvider: boolean): unknown {
    const { tenancy, database } = this.#context
    const broken = database.brokenRule(error)
    if (broken === undefined) return error
    return explainBrokenRule(broken, { error, table: this.#plan.table, cells, askedForProvider, tenancy })
  }
}
