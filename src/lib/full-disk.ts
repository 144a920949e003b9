// The signs of a full disk, and the error for a person who must act on it.
import { statfsSync } from 'node:fs'
import { AppError } from './errors.ts'

// EFBIG: the system refuses to make the file longer, by a limit of the process.
const codes: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG'])

export function isDiskFull(error: unknown): boolean {
  return error instanceof Error && 'code' in error && codes.has(error.code)
}

/** Reports a full disk to code without another reason for an incomplete file. False if the system does not say. */
export function hasNoRoom(folder: string): boolean {
  try {
    return statfsSync(folder).bavail === 0
  } catch {
    return false
  }
}

/** Returns any other error as it is. */
export function toDiskFull(error: unknown): unknown {
  return isDiskFull(error) ? diskFull(error) : error
}

/** Returns the refusal of a write that can wait, while what is left of the disk is kept for others. */
export function lowDisk(): AppError {
  return new AppError(
    'disk_full',
    'the disk with the database is nearly full: what is left is for administrators, logins and removals',
  )
}

export function diskFull(cause?: unknown): AppError {
  return new AppError('disk_full', 'the disk with the data directory is full', { cause })
}
