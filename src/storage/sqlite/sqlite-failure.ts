// The translation of disk failures below the embedded database into errors that the operator can act on.
import { AppError } from '../../lib/errors.ts'

// https://www.sqlite.org/rescode.html: SQLITE_READONLY, SQLITE_IOERR, SQLITE_FULL, SQLITE_CANTOPEN.
const full = 13
const diskFailures: ReadonlySet<number> = new Set([8, 10, full, 14])

/** Returns the AppError of a disk failure, and every other error as it is. */
export function toDiskFailure(error: unknown): unknown {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return error
  // The low byte is the kind of failure; the other bits only refine it.
  if (!diskFailures.has(error.errcode & 0xff)) return error
  return (error.errcode & 0xff) === full
    ? new AppError('disk_full', 'the disk with the database is full', { cause: error })
    : new AppError('database_unavailable', 'the database cannot be written', { cause: error })
}
