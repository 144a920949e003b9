// The SQL of one table, compiled once per shape and reach. Every statement contains the reach: a second line of
// defence behind the scopes of the API, which holds even when a handler forgets its check.
import { sql, type Expression, type ExpressionBuilder, type Kysely, type SqlBool } from 'kysely'
import type { Tenancy } from '../../contracts/caller.ts'
import type { Database } from '../database/database.ts'
import type { AnyDescriptor } from './descriptors.ts'
import { createPreparedCache, rowSlot, slot, type Prepared, type Values } from '../database/prepared.ts'

/** The part of a table that a tenancy sees; each has its own SQL. */
export type Reach = 'all' | 'provider' | 'account'

export interface ListShape {
  /** The conditions, in the order of the values. A null is written into the SQL, because NULL equals nothing. */
  readonly where: readonly { readonly column: string; readonly isNull: boolean }[]
  readonly contains: string | undefined
  readonly alike: string | undefined
  readonly orderBy: readonly string[]
  readonly isPaged: boolean
  /** Whether the list starts after a key. */
  readonly isAfter: boolean
}

export type FilterShape = Pick<ListShape, 'where' | 'contains' | 'alike'>

export interface TableQueries {
  find(reach: Reach): Prepared
  /** Finds rows by one of `count` keys, whose slots are named key0, key1 ... */
  findMany(reach: Reach, count: number): Prepared
  /** Like `find`, without the rows that the reach sees only because they are shared. */
  findOwn(reach: Reach): Prepared
  list(reach: Reach, shape: ListShape): Prepared
  count(reach: Reach, shape: FilterShape): Prepared
  insert(columns: readonly string[], provider: ProviderSource): Prepared
  update(reach: Reach, columns: readonly string[], provider: ProviderSource): Prepared
  remove(reach: Reach): Prepared
}

/**
 * The source of service_provider_sid: the values, or the account's row. `own_account` finds the account only within
 * the provider of the values, so that a foreign account yields NULL and the row is refused.
 */
export type ProviderSource = 'values' | 'account' | 'own_account'

// The tables differ only by name and columns, which the descriptors hold. The code below treats them all alike.
type AnyTable = Record<string, Record<string, never>>

export function reachOf(tenancy: Tenancy): Reach {
  if (tenancy.level === 'account') return 'account'
  return tenancy.level === 'service_provider' ? 'provider' : 'all'
}

/** Returns the values of the slots in the reach's predicate. */
export function reachValues(tenancy: Tenancy): Values {
  return {
    reach_provider: 'service_provider_sid' in tenancy ? tenancy.service_provider_sid : undefined,
    reach_account: 'account_sid' in tenancy ? tenancy.account_sid : undefined,
  }
}

export function createTableQueries(
  { builder, matchesPattern }: Pick<Database, 'builder' | 'matchesPattern'>,
  table: string,
  descriptor: AnyDescriptor,
): TableQueries {
  const db = builder as unknown as Kysely<AnyTable>
  const once = createPreparedCache()
  const { key } = descriptor

  const owned = (reach: Reach): [string, never][] => ownedBy(descriptor, reach)

  /** Selects the rows that the reach may read. */
  function seen(reach: Reach) {
    return db.selectFrom(table).where((where) => where.and(seenIn(where, descriptor, reach)))
  }

  function filtered(reach: Reach, { where, contains, alike }: FilterShape) {
    let query = seen(reach)
    for (const { column, isNull } of where)
      query = isNull
        ? query.where(column, 'is', null as never)
        : query.where(column, '=', slot(`where_${column}`))
    if (contains !== undefined) query = query.where(matchesPattern(sql.ref(contains), slot('contains')))
    if (alike !== undefined)
      query = query.where(sql<boolean>`lower(${sql.ref(alike)}) = lower(${slot('alike')})`)
    return query
  }

  function listed(reach: Reach, shape: ListShape) {
    let query = filtered(reach, shape).selectAll()
    if (shape.isAfter) query = query.where(key, '>', slot('after'))
    for (const column of shape.orderBy) query = query.orderBy(column)
    return shape.isPaged ? query.limit(rowSlot('limit')).offset(rowSlot('offset')) : query
  }

  function written(columns: readonly string[], provider: ProviderSource): Record<string, never> {
    const values: Record<string, never> = {}
    for (const column of columns) values[column] = slot(`set_${column}`)
    if (provider === 'values') return values
    let source = builder
      .selectFrom('accounts as owner')
      .select('owner.service_provider_sid')
      .where('owner.account_sid', '=', slot('set_account_sid'))
    if (provider === 'own_account')
      source = source.where('owner.service_provider_sid', '=', slot('set_service_provider_sid'))
    return { ...values, service_provider_sid: source as never }
  }

  return {
    find: (reach) =>
      once(`find ${reach}`, () => filtered(reach, noFilter).selectAll().where(key, '=', slot('key'))),
    findMany: (reach, count) =>
      once(`find ${count} ${reach}`, () => {
        const keys = Array.from({ length: count }, (_, index) => slot(`key${index}`))
        return seen(reach).selectAll().where(key, 'in', keys)
      }),
    findOwn: (reach) =>
      once(`find own ${reach}`, () => {
        let query = db.selectFrom(table).selectAll().where(key, '=', slot('key'))
        for (const [column, value] of owned(reach)) query = query.where(column, '=', value)
        return query
      }),
    list: (reach, shape) =>
      once(`list ${reach} ${describe(shape)} ${shape.orderBy.join()} ${shape.isPaged} ${shape.isAfter}`, () =>
        listed(reach, shape),
      ),
    count: (reach, shape) =>
      once(`count ${reach} ${describe(shape)}`, () =>
        filtered(reach, shape).select((eb) => eb.fn.countAll().as('count')),
      ),
    insert: (columns, provider) =>
      once(`insert ${provider} ${columns.join()}`, () =>
        db.insertInto(table).values(written(columns, provider)).returningAll(),
      ),
    update: (reach, columns, provider) =>
      once(`update ${reach} ${provider} ${columns.join()}`, () => {
        let query = db
          .updateTable(table)
          .set({ ...written(columns, provider), version: sql`version + 1` as never })
          .where(key, '=', slot('key'))
        for (const [column, value] of owned(reach)) query = query.where(column, '=', value)
        return query.returningAll()
      }),
    remove: (reach) =>
      once(`remove ${reach}`, () => {
        let query = db.deleteFrom(table).where(key, '=', slot('key'))
        for (const [column, value] of owned(reach)) query = query.where(column, '=', value)
        return query.returningAll()
      }),
  }
}

/** Returns the predicate of a reach as pairs of column and slot. A table of the platform has none. */
function ownedBy({ owner }: AnyDescriptor, reach: Reach): [string, never][] {
  const pairs: [string, never][] = []
  if (reach !== 'all' && owner.includes('service_provider_sid'))
    pairs.push(['service_provider_sid', slot('reach_provider')])
  if (reach === 'account' && owner.includes('account_sid')) pairs.push(['account_sid', slot('reach_account')])
  return pairs
}

/** Returns the conditions for the rows that the reach may read. */
function seenIn(
  where: ExpressionBuilder<AnyTable, string>,
  descriptor: AnyDescriptor,
  reach: Reach,
): Expression<SqlBool>[] {
  return ownedBy(descriptor, reach).map(([column, value]) => {
    const isOwn = where(column, '=', value)
    return descriptor.isShared && column === 'account_sid'
      ? where.or([isOwn, where(column, 'is', null as never)])
      : isOwn
  })
}

const noFilter: FilterShape = { where: [], contains: undefined, alike: undefined }

function describe({ where, contains, alike }: FilterShape): string {
  let text = `${contains ?? ''}~${alike ?? ''}`
  for (const { column, isNull } of where) text += `,${column}${isNull ? '!' : ''}`
  return text
}

/** Returns a LIKE pattern that finds the text anywhere, with `\` as escape. The database decides on letter case. */
export function containing(text: string): string {
  return `%${text.replace(/[\\%_]/g, '\\$&')}%`
}
