// What storage needs of a database: sessions that run statements, and transactions. sqlite.ts and postgres.ts each make
// one; nothing else in storage knows which database it is.
import type { Expression, Kysely, RawBuilder, SelectQueryBuilder, SqlBool } from 'kysely'
import { goneError } from '../../lib/asker.ts'
import type { Asker } from '../../lib/asker.ts'
import type { Schema } from '../tables.ts'

export type Parameter = string | number | null
export type Cell = string | number | null
export type Cells = Record<string, Cell>

/** Runs single statements. The session of a transaction refuses them once the transaction has ended. */
export interface Session {
  all(sql: string, parameters: readonly Parameter[]): Promise<Cells[]>
}

export interface Readers {
  /** Sees what is committed; waits for no writer. */
  readonly reader: Session
  /** As `reader`, but off the main thread, for statements that may read many rows. */
  readonly slowReader: Session
}

export interface Database extends Readers {
  /** Compiles queries; never runs them. */
  readonly builder: Kysely<Schema>
  /**
   * One transaction at a time, over all processes that share the database, so that what `work` reads stays true until
   * it is committed. Resolves when it is committed. It survives the process from then on.
   */
  commit<R>(work: (session: Session) => Promise<R>): Promise<R>
  /**
   * As `commit`, but beside other transactions: for the stores of the call engine, which lock the few rows they share.
   * `work` may be run again, after everything it did was undone.
   */
  commitBeside<R>(work: (session: Session) => Promise<R>): Promise<R>
  /** Whether other processes may share the database. */
  readonly isShared: boolean
  /** Where it is shared: a connection for the few short statements that must not wait behind those of requests. */
  readonly pulse: Session
  /** Undefined where transactions never run beside each other. */
  readonly rowLocks: RowLocks | undefined
  /** Whether a text matches a pattern of LIKE, in any case of its ASCII letters; `\` escapes. */
  readonly matchesPattern: (text: Expression<unknown>, pattern: Expression<unknown>) => RawBuilder<SqlBool>
  /** Numbers that no other transaction gets, rising. Undefined where the only writer counts by itself. */
  readonly nextIds: ((session: Session, count: number) => Promise<number[]>) | undefined
  /** Resolves when everything committed so far survives the machine. */
  durable(): Promise<void>
  /** Which rule a failed statement broke, if it broke one. */
  brokenRule(error: unknown): BrokenRule | undefined
  close(): Promise<void>
}

/** How a query keeps others away from the rows it reads until its transaction ends. */
export interface RowLocks {
  wait<T extends keyof Schema, O>(query: Selecting<T, O>): Selecting<T, O>
  /** Rows that another transaction has locked are left out. */
  skip<T extends keyof Schema, O>(query: Selecting<T, O>): Selecting<T, O>
  /** Others may lock the rows in the same way and change them; only removing them has to wait. */
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

/** The readers of a request whose client may leave: once it has left, no further statement is begun for it. */
export function readersFor({ reader, slowReader }: Readers, asker: Asker | undefined): Readers {
  if (asker === undefined) return { reader, slowReader }
  const whilePresent = (session: Session): Session => ({
    all: (sql, parameters) => (asker.isGone ? Promise.reject(goneError()) : session.all(sql, parameters)),
  })
  return { reader: whilePresent(reader), slowReader: whilePresent(slowReader) }
}

/** One transaction, acknowledged only when it is on the disk. */
export async function write<R>(database: Database, work: (session: Session) => Promise<R>): Promise<R> {
  const result = await database.commit(work)
  await database.durable()
  return result
}
