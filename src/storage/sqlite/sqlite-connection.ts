// A connection to the embedded database: pragmas, prepared statements, and the adapter for Kysely's migrations.
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import type { SqliteDatabase } from 'kysely'
import type { BrokenRule, Cell, Cells, Parameter } from '../database/database.ts'

export interface Connection {
  all(sql: string, parameters: readonly Parameter[]): Cells[]
  exec(sql: string): void
  /** Runs a statement that returns nothing and is run often. */
  run(sql: string): void
  isInTransaction(): boolean
  /** The connection in the form that Kysely's SqliteDialect needs. */
  readonly forKysely: SqliteDatabase
  close(): void
}

interface PreparedStatement {
  readonly statement: StatementSync
  readonly columns: readonly string[]
}

// More than are ever used: statements are compiled from a fixed set of shapes. The bound guards against a mistake.
const maxStatements = 2000

// Another program, such as an operator's backup, may hold the lock for a moment.
const busyTimeoutMs = 5000

export interface ConnectionOptions {
  readonly path: string
  readonly readOnly: boolean
  /** FULL syncs inside the statement, so it is never used on the main thread. */
  readonly synchronous: 'NORMAL' | 'FULL'
}

export function openConnection({ path, readOnly, synchronous }: ConnectionOptions): Connection {
  const database = new DatabaseSync(path, {
    readOnly,
    timeout: busyTimeoutMs,
    enableForeignKeyConstraints: true,
  })
  if (!readOnly) database.exec('PRAGMA journal_mode = WAL')
  database.exec(`PRAGMA synchronous = ${synchronous}`)
  // Checkpoints run in their own thread (checkpoints.ts).
  database.exec('PRAGMA wal_autocheckpoint = 0')
  database.exec('PRAGMA cache_size = -8192')
  database.exec('PRAGMA temp_store = MEMORY')
  const statements = new Map<string, PreparedStatement>()

  function prepared(sql: string): PreparedStatement {
    const known = statements.get(sql)
    if (known !== undefined) return known
    if (statements.size >= maxStatements) statements.clear()
    const statement = database.prepare(sql)
    statement.setReturnArrays(true)
    const made = { statement, columns: statement.columns().map(({ name }) => name) }
    statements.set(sql, made)
    return made
  }

  return {
    all(sql, parameters) {
      const { statement, columns } = prepared(sql)
      // The columns of the schema are text, integer and bigint below 2^53, so no other cell type occurs.
      const rows = statement.all(...parameters) as unknown as Cell[][]
      return rows.map((row) => rowOf(columns, row))
    },
    exec: (sql) => database.exec(sql),
    run: (sql) => void prepared(sql).statement.run(),
    isInTransaction: () => database.isTransaction,
    forKysely: {
      close: () => undefined,
      prepare(sql) {
        const statement = database.prepare(sql)
        return {
          reader: statement.columns().length > 0,
          all: (parameters) => statement.all(...(parameters as Parameter[])),
          run: (parameters) => statement.run(...(parameters as Parameter[])),
          iterate: (parameters) => statement.iterate(...(parameters as Parameter[])),
        }
      },
    },
    close() {
      statements.clear()
      database.close()
    },
  }
}

/** Builds a row in half the time of node:sqlite's own objects, which also have no prototype. */
function rowOf(columns: readonly string[], cells: readonly Cell[]): Cells {
  const row: Cells = {}
  for (let index = 0; index < columns.length; index++) row[columns[index] ?? ''] = cells[index] ?? null
  return row
}

// SQLite extended result codes: https://sqlite.org/rescode.html
const resultCode = { check: 275, foreignKey: 787, notNull: 1299, primaryKey: 1555, unique: 2067 }

export function brokenRule(error: unknown): BrokenRule | undefined {
  if (!(error instanceof Error && 'errcode' in error)) return undefined
  // "UNIQUE constraint failed: clients.account_sid, clients.username"
  const columns = error.message
    .slice(error.message.indexOf(': ') + 2)
    .split(', ')
    .map((name) => name.slice(name.indexOf('.') + 1))
  switch (error.errcode) {
    case resultCode.unique:
    case resultCode.primaryKey:
      return { rule: 'unique', columns }
    case resultCode.notNull:
      return { rule: 'not_null', column: columns[0] ?? '' }
    case resultCode.foreignKey:
      return { rule: 'foreign_key' }
    case resultCode.check:
      return { rule: 'check' }
    default:
      return undefined
  }
}
