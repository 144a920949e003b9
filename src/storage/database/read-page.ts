// Pages of rows that are filtered in many ways: alerts, the audit log.
import type { SelectQueryBuilder } from 'kysely'
import type { Schema } from '../tables.ts'
import type { Session } from './database.ts'
import { run } from './prepared.ts'

export interface PageQuery {
  /** Counted from 1. */
  readonly page: number
  readonly count: number
}

export interface PageOf<R> {
  readonly total: number
  readonly rows: readonly R[]
}

/** Returns one page of the matching rows, and the number of all matching rows. */
export async function readPage<T extends keyof Schema, R>(
  session: Session,
  matching: SelectQueryBuilder<Schema, T, object>,
  ordered: SelectQueryBuilder<Schema, T, R>,
  { page, count }: PageQuery,
): Promise<PageOf<R>> {
  const [counted, rows] = await Promise.all([
    run(
      session,
      matching.select((eb) => eb.fn.countAll().as('total')),
    ),
    run(session, ordered.limit(count).offset((page - 1) * count)),
  ])
  return { total: Number(counted[0]?.['total'] ?? 0), rows: rows as unknown as R[] }
}
