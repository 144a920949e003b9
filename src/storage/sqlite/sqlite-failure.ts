// Failures of the disk below the embedded database, as errors that the operator can act on.
import { AppError } from '../../lib/errors.ts'

// https://www.sqlite.org/rescode.html: SQLITE_READONLY, SQLITE_IOERR, SQLITE_FULL, SQLITE_CANTOPEN.
const diskFailures: ReadonlySet<number> = new Set([8, 10, 13, 14])

/** Returns every other error as it is. */
export function toDiskFailure(error: unknown): unknown {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return error
  // The low byte is the kind, the rest says more about it.
  if (!diskFailures.has(error.errcode & 0xff)) return error
  return new AppError('database_unavailable', 'the database cannot be written', { cause: error })
}
