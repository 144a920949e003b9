// Reasons why the database cannot be opened, for the operator. Failures that no operator can repair stay as they are.
import { DatabaseError } from 'pg'
import { AppError } from '../../lib/errors.ts'
import { isDiskFull } from '../../lib/full-disk.ts'
import { StartError } from '../../lib/start-error.ts'

const setting = 'SWITCHHOOK_DATABASE_URL'

// https://www.postgresql.org/docs/current/errcodes-appendix.html
const refusals: Readonly<Record<string, string>> = {
  '28P01': `PostgreSQL refuses the user or the password: correct them in ${setting}.`,
  '28000': `PostgreSQL refuses the user: correct it in ${setting}, or admit it in pg_hba.conf.`,
  '3D000': `PostgreSQL has no such database: create it, or name another one in ${setting}.`,
  '42501': `The user of ${setting} lacks a right in the database: let it own the tables of Switchhook, or the database.`,
  '53300': `PostgreSQL takes no more connections: raise its max_connections, or name another server in ${setting}.`,
}

/** Repeats nothing of the URL, which holds the password. */
export function toPostgresStartError(error: unknown): unknown {
  if (error instanceof StartError) return error
  const cause = rootOf(error)
  if (!(cause instanceof Error)) return error
  const code = codeOf(cause)
  const sentence = cause instanceof DatabaseError ? refusals[code] : undefined
  if (sentence !== undefined) return new StartError(sentence, { cause: error })
  if (!(error instanceof AppError && error.code === 'database_unavailable')) return error
  // If several addresses of a name do not respond, the message is empty and only the code gives the reason.
  const reason = cause.message === '' ? code : cause.message
  return new StartError(`PostgreSQL does not answer (${reason}): start it, or correct ${setting}.`, {
    cause: error,
  })
}

/** Translates failures of the data directory and the files in it, the embedded database among them. */
export function toFileStartError(error: unknown, dataDir: string): unknown {
  if (error instanceof StartError) return error
  const cause = rootOf(error)
  if (!(cause instanceof Error)) return error
  const reason = reasonOf(cause)
  if (reason === undefined) return error
  const cure = isDiskFull(cause) || reason === diskIsFull ? 'make room on its disk' : 'repair it'
  return new StartError(
    `The data directory ${dataDir} cannot be used (${reason}): ${cure}, or name another one in SWITCHHOOK_DATA_DIR.`,
    { cause: error },
  )
}

const diskIsFull = 'the disk is full'

// https://www.sqlite.org/rescode.html
const sqliteReasons: Readonly<Record<number, string>> = {
  8: 'the database is read-only',
  10: 'the disk fails',
  11: 'the database is damaged',
  13: diskIsFull,
  14: 'the database cannot be opened',
  23: 'access is not permitted',
  26: 'switchhook.db is not a database',
}

function reasonOf(cause: Error): string | undefined {
  if ('errcode' in cause && typeof cause.errcode === 'number') return sqliteReasons[cause.errcode & 0xff]
  // The message of a failed system call names the file.
  return 'syscall' in cause ? cause.message : undefined
}

function rootOf(error: unknown): unknown {
  let root = error
  while (root instanceof Error && root.cause instanceof Error) root = root.cause
  return root
}

function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : 'no reason given'
}
