// The interface between storage and a database: sessions that run statements, and transactions. sqlite.ts and
// postgres.ts each implement it; the rest of storage does not depend on which database is in use.
import type { Expression, Kysely, RawBuilder, SelectQueryBuilder, SqlBool } from 'kysely'
import { goneError, type Asker } from '../../lib/asker.ts'
import type { Schema } from '../tables.ts'

export type Parameter = string | number | null
export type Cell = string | number | null
export type Cells = Record<string, Cell>

/** Runs single statements. A transaction's session refuses them once the transaction has ended. */
export interface Session {
  all(sql: string, parameters: readonly Parameter[]): Promise<Cells[]>
}

export interface Readers {
  /** Sees committed rows only, and waits for no writer. */
  readonly reader: Session
  /** Like `reader`, but off the main thread, for statements that may read many rows. */
  readonly slowReader: Session
}

export interface Database extends Readers {
  /** Compiles queries; never runs them. */
  readonly builder: Kysely<Schema>
  /**
   * Runs one transaction at a time over all processes that share the database: rows that `work` reads stay unchanged
   * until it commits. Resolves once it is committed; from then on it survives the end of the process.
   */
  commit<R>(work: (session: Session) => Promise<R>): Promise<R>
  /**
   * Like `commit`, but runs concurrently with other transactions: for the stores of the call engine, which lock the
   * few rows they share. `work` may be run again, after everything it did was undone.
   */
  commitBeside<R>(work: (session: Session) => Promise<R>): Promise<R>
  /** Whether other processes may share the database. */
  readonly isShared: boolean
  /** A connection of a shared database for the few short statements that must not wait behind those of requests. */
  readonly pulse: Session
  /** Undefined where transactions never run concurrently. */
  readonly rowLocks: RowLocks | undefined
  /** Whether a text matches a pattern of LIKE, in any case of its ASCII letters; `\` escapes. */
  readonly matchesPattern: (text: Expression<unknown>, pattern: Expression<unknown>) => RawBuilder<SqlBool>
  /** Returns the time of the database in epoch ms. Undefined where it is that of this machine. */
  readonly timeOf: ((session: Session) => Promise<number>) | undefined
  /** Returns rising numbers that no other transaction gets. Undefined where the single writer numbers its rows. */
  readonly nextIds: ((session: Session, count: number) => Promise<number[]>) | undefined
  /** Resolves when everything committed so far would survive a crash of the machine. */
  durable(): Promise<void>
  /** Returns the rule that a failed statement broke, if it broke one. */
  brokenRule(error: unknown): BrokenRule | undefined
  close(): Promise<void>
}

/** Locks on the rows that a query reads, held until its transaction ends. */
export interface RowLocks {
  wait<T extends keyof Schema, O>(query: Selecting<T, O>): Selecting<T, O>
  /** Leaves out rows that another transaction has locked. */
  skip<T extends keyof Schema, O>(query: Selecting<T, O>): Selecting<T, O>
  /** Other transactions may take the same lock and change the rows; only their removal has to wait. */
  keep<T extends keyof Schema, O>(query: Selecting<T, O>): Selecting<T, O>
}

type Selecting<T extends keyof Schema, O> = SelectQueryBuilder<Schema, T, O>

export type BrokenRule =
  | { readonly rule: 'unique'; readonly columns: readonly string[] }
  | { readonly rule: 'not_null'; readonly column: string }
  | { readonly rule: 'foreign_key' }
  | { readonly rule: 'check' }
  /** A value that its column cannot hold. */
  | { readonly rule: 'value' }

/** Returns readers that start no further statement once the client of the request has disconnected. */
export function readersFor({ reader, slowReader }: Readers, asker: Asker | undefined): Readers {
  if (asker === undefined) return { reader, slowReader }
  const whilePresent = (session: Session): Session => ({
    all: (sql, parameters) => (asker.isGone ? Promise.reject(goneError()) : session.all(sql, parameters)),
  })
  return { reader: whilePresent(reader), slowReader: whilePresent(slowReader) }
}

/** Runs one transaction and resolves only when it is on the disk. */
export async function write<R>(database: Database, work: (session: Session) => Promise<R>): Promise<R> {
  const result = await database.commit(work)
  await database.durable()
  return result
}
