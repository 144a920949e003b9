// The data directory: whether it may be used, who else may enter it, and how much room there is.
import { constants } from 'node:fs'
import { access, statfs } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import type { Check, Finding } from './doctor.ts'
import { bad, findingOf, note, ok } from './doctor.ts'
import { StartError } from '../lib/start-error.ts'

export interface DiskOptions {
  readonly dataDir: string
  readonly recordingSpoolMb: number
  /** A sentence where other users may enter the directory, and the start will not close it to them. */
  readonly warningOn: (path: string) => string | undefined
  /** Less is red. */
  readonly minFreeMb?: number
}

// The database, its log and a day of calls.
const defaultMinFreeMb = 1000
const megabyte = 1_000_000

export function createDiskCheck(options: DiskOptions): Check {
  const dataDir = resolve(options.dataDir)
  return {
    name: 'disk',
    async look() {
      const place = await existing(dataDir)
      return [await usable(dataDir, place, options.warningOn), await room(place, options)]
    },
  }
}

async function usable(dataDir: string, place: string, warningOn: DiskOptions['warningOn']): Promise<Finding> {
  const isThere = place === dataDir
  const cure = 'Make it writable for the user of the platform, or name another one in SWITCHHOOK_DATA_DIR.'
  const mayUse = await access(place, constants.R_OK | constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  )
  if (!mayUse)
    return bad(
      isThere
        ? `The data directory ${dataDir} cannot be written by this user`
        : `The data directory ${dataDir} cannot be made in ${place} by this user`,
      cure,
    )
  if (!isThere) return ok(`The data directory ${dataDir} is made at the first start`)
  const warning = warningOn(dataDir)
  return warning === undefined
    ? ok(`The data directory ${dataDir} can be written`)
    : findingOf(new StartError(warning))
}

async function room(
  place: string,
  { recordingSpoolMb, minFreeMb = defaultMinFreeMb }: DiskOptions,
): Promise<Finding> {
  const { bavail, bsize, files, ffree } = await statfs(place)
  // Some file systems do not count files.
  if (files > 0 && ffree === 0) return bad(`No more files can be made at ${place}`, 'Remove files there.')
  const freeMb = Math.floor((bavail * bsize) / megabyte)
  const what = `${freeMb} MB are free at ${place}`
  if (freeMb < minFreeMb)
    return bad(
      what,
      `Make room: below ${minFreeMb} MB a busy day may fill it, and a full disk stops every write. SWITCHHOOK_CALL_RECORD_DAYS bounds what is kept.`,
    )
  if (freeMb < recordingSpoolMb)
    return note(
      `${what}, less than the ${recordingSpoolMb} MB that recordings may wait in`,
      'Where calls are recorded, make room or set SWITCHHOOK_RECORDING_SPOOL_MB to less.',
    )
  return ok(what)
}

/** The nearest folder above that is there. */
async function existing(path: string): Promise<string> {
  const isThere = await access(path).then(
    () => true,
    () => false,
  )
  return isThere || dirname(path) === path ? path : existing(dirname(path))
}
