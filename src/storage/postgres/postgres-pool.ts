// Connections to PostgreSQL, bounded in number and in time, and the translation of their failures.
import { DatabaseError, Pool, types, type PoolClient, type PoolConfig } from 'pg'
import { AppError } from '../../lib/errors.ts'
import type { Logger } from '../../lib/log.ts'
import type { BrokenRule, Cells, Parameter } from '../database/database.ts'

// Each connection costs the server a process. Reads take milliseconds, so ten serve thousands of requests a second.
const maxConnections = 10
// A longer queue means that the database has stopped responding: further queries fail immediately.
const maxWaiting = 1000
const connectTimeoutMs = 5000
const idleTimeoutMs = 60_000
// The limit of one statement. A page of call records over millions of rows takes far less.
const statementTimeoutMs = 30_000
// The longest time that a node which hangs within a transaction holds up the others.
const idleInTransactionMs = 35_000
const lockTimeoutMs = 15_000
// The server responds or ends the statement before this. Without a response the connection is lost in the network.
const defaultAnswerTimeoutMs = 40_000

export interface PostgresPool {
  readonly pool: Pool
  readonly query: (sql: string, parameters: readonly Parameter[]) => Promise<Cells[]>
  /** Returns a connection for one transaction, which the caller releases. Failures are translated. */
  connect(): Promise<PoolClient>
  end(): Promise<void>
}

export interface PoolOptions {
  readonly url: string
  /** The name of the connections in the server's list. */
  readonly name: string
  /** The most connections. */
  readonly max?: number
  /** The time without a response after which a query fails. */
  readonly answerTimeoutMs?: number
  readonly log: Logger
}

export function openPool(options: PoolOptions): PostgresPool {
  const { url, name, max = maxConnections, log } = options
  const config: PoolConfig = {
    connectionString: url,
    application_name: name,
    max,
    connectionTimeoutMillis: connectTimeoutMs,
    idleTimeoutMillis: idleTimeoutMs,
    statement_timeout: statementTimeoutMs,
    lock_timeout: lockTimeoutMs,
    idle_in_transaction_session_timeout: idleInTransactionMs,
    query_timeout: options.answerTimeoutMs ?? defaultAnswerTimeoutMs,
    keepAlive: true,
    types: { getTypeParser },
  }
  const pool = new Pool(config)
  // A connection that breaks is dropped, and the next query opens another. The pool listens to idle connections only.
  // One in use fails its query and emits the error once more, which without a listener would end the process.
  pool.on('error', (error) => log.warn({ err: error }, 'database connection lost'))
  pool.on('connect', (client) => client.on('error', () => undefined))

  async function connect(): Promise<PoolClient> {
    // This is a mistake of the caller, not an outage, and the embedded database throws the same error.
    if (pool.ending) throw new Error('storage is stopped')
    if (pool.waitingCount >= maxWaiting)
      throw new AppError('overloaded', 'too many requests are waiting for the database')
    try {
      return await pool.connect()
    } catch (error) {
      throw translated(error)
    }
  }

  return {
    pool,
    connect,
    async query(sql, parameters) {
      const client = await connect()
      let failure: unknown
      try {
        return await runOn(client, sql, parameters)
      } catch (error) {
        failure = error
        throw translated(error)
      } finally {
        client.release(failure !== undefined && isConnectionBroken(failure))
      }
    },
    end: () => pool.end(),
  }
}

/** Throws what the driver throws. */
export async function runOn(
  client: PoolClient,
  sql: string,
  parameters: readonly Parameter[],
): Promise<Cells[]> {
  const { rows } = await client.query<Cells>(sql, parameters.map(storable))
  return rows
}

/**
 * Replaces NUL, the only character that PostgreSQL cannot store. The edges refuse other control characters; a SIP
 * header with a NUL must not fail a write.
 */
function storable(parameter: Parameter): Parameter {
  return typeof parameter === 'string' && parameter.includes('\0')
    ? parameter.replaceAll('\0', '\uFFFD')
    : parameter
}

// Times and counts are below 2^53, so they are read as numbers, as from the embedded database.
const bigintType = 20

function getTypeParser(type: number, format?: 'text' | 'binary'): (text: string) => unknown {
  if (type === bigintType) return Number
  // The driver's own parsers return strings and numbers for the columns of the schema.
  return format === 'binary' ? types.getTypeParser(type, 'binary') : types.getTypeParser(type, 'text')
}

// The classes of connection trouble, exhausted resources, shutdown and system errors:
// https://www.postgresql.org/docs/current/errcodes-appendix.html
const unavailableClasses = new Set(['08', '53', '57', '58'])
// The server has become a standby; a transaction has idled too long.
const unavailableCodes = new Set(['25006', '25P03'])
const diskFullCode = '53100'
const lockNotAvailable = '55P03'
const retryable = new Set(['40001', '40P01'])
// A text is longer than an index can hold.
const tooLongForIndex = '54000'

/** Turns failures that a caller can act on into an AppError, and returns others as they are. */
export function translated(error: unknown): unknown {
  if (error instanceof AppError) return error
  if (error instanceof DatabaseError && error.code === lockNotAvailable)
    return new AppError('overloaded', 'too many writes are waiting for the database', { cause: error })
  if (!isUnavailable(error)) return error
  if (error instanceof DatabaseError && error.code === diskFullCode)
    return new AppError('disk_full', 'the disk with the database is full', {
      cause: error,
      cure: 'The operator should make room on the disk of PostgreSQL.',
    })
  return new AppError('database_unavailable', 'the database does not respond', { cause: error })
}

function isUnavailable(error: unknown): boolean {
  // An error that the server did not send means that it could not be reached.
  if (!(error instanceof DatabaseError)) return true
  const { code = '' } = error
  return unavailableClasses.has(code.slice(0, 2)) || unavailableCodes.has(code)
}

/** Reports whether the connection must not be used again. */
export function isConnectionBroken(error: unknown): boolean {
  return isUnavailable(error)
}

/** Reports whether the same work may succeed when it is run once more. */
export function isRetryable(error: unknown): boolean {
  return error instanceof DatabaseError && retryable.has(error.code ?? '')
}

export function brokenRule(error: unknown): BrokenRule | undefined {
  if (!(error instanceof DatabaseError)) return undefined
  const { code = '' } = error
  switch (code) {
    case '23505': {
      // "Key (account_sid, username)=(...) already exists.", in the language of the server.
      const names = /\(([^()]+)\)=\(/.exec(error.detail ?? '')?.[1] ?? error.constraint ?? ''
      return { rule: 'unique', columns: names.split(', ').map((name) => name.replaceAll('"', '')) }
    }
    case '23502':
      return { rule: 'not_null', column: error.column ?? '' }
    case '23503':
      return { rule: 'foreign_key' }
    case '23514':
      return { rule: 'check' }
    case tooLongForIndex:
      return { rule: 'value' }
    default:
      return code.startsWith('22') ? { rule: 'value' } : undefined
  }
}
