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
  const isFull = (error.errcode & 0xff) === full
  const sentence = isFull ? 'the disk with the database is full' : 'the database cannot be written'
  return new AppError('database_unavailable', sentence, {
    cause: error,
    ...(isFull
      ? {
          cure: 'The operator should make room on the disk with the data directory, which SWITCHHOOK_DATA_DIR names.',
        }
      : {}),
  })
}
