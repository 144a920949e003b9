// The check of the data directory at a start: it exists, it can be written, and only its owner may enter.
import { accessSync, chmodSync, constants, mkdirSync, readdirSync, statSync } from 'node:fs'
import { platform } from 'node:os'
import { dirname, resolve } from 'node:path'
import { StartError } from './lib/start-error.ts'

// Backups and drafts of these files begin with the same names.
const ours = /^(switchhook\.db|secret\.key|(cache|certificates|recordings|reserve)$)/

/**
 * Makes the directory, for its owner only. Closes one that others may enter to them if every file in it is the
 * platform's; otherwise returns a sentence for the operator. Throws StartError.
 */
export function prepareDataDirectory(path: string): string | undefined {
  try {
    makeDirectory(resolve(path))
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new StartError(
      `The data directory ${resolve(path)} cannot be written (${reason}): make it writable, or name another one in SWITCHHOOK_DATA_DIR.`,
      { cause: error },
    )
  }
  if (warningOn(path) === undefined && (isClosedAlready(path) || isClosed(path))) return undefined
  return warningFor(path)
}

/**
 * Makes one level after the other. A directory that accepts no new one, as /proc, makes `mkdir` report that there is no
 * such directory, and the recursive form of Node retries without end.
 */
function makeDirectory(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return
  const parent = dirname(path)
  if (parent !== path) makeDirectory(parent)
  mkdirSync(path, { mode: 0o700 })
}

/**
 * Returns a sentence if others may enter the directory and a start leaves it so, since it holds files that are not the
 * platform's.
 */
export function warningOn(path: string): string | undefined {
  if (isClosedAlready(path) || readdirSync(path).every((name) => ours.test(name))) return undefined
  return warningFor(path)
}

/** Reports true on Windows, which has no such modes. */
function isClosedAlready(path: string): boolean {
  return platform() === 'win32' || (statSync(path).mode & 0o077) === 0
}

function warningFor(path: string): string {
  return `Other users may enter the data directory ${resolve(path)}: run "chmod 700" on it, or name one of its own in SWITCHHOOK_DATA_DIR.`
}

function isClosed(path: string): boolean {
  try {
    chmodSync(path, 0o700)
    return true
  } catch {
    // It belongs to another user, or its file system has no modes.
    return false
  }
}
