// The check of the data directory: whether it may be used, who else may enter it, and how much room there is.
import { constants } from 'node:fs'
import { access, stat, statfs } from 'node:fs/promises'
import { dirname, relative, resolve, sep } from 'node:path'
import { bad, findingOf, note, ok, type Check, type Finding } from './doctor.ts'
import { StartError } from '../lib/start-error.ts'

export interface DiskOptions {
  readonly dataDir: string
  readonly recordingSpoolMb: number
  /** Returns a sentence if other users may enter the directory, and the start will not close it to them. */
  readonly warningOn: (path: string) => string | undefined
  /** Less free space is bad. */
  readonly minFreeMb?: number
}

// Room for the database, its log and a day of calls.
const defaultMinFreeMb = 1000
// The longest name in a path, on every file system in use.
const maxNameBytes = 255
const megabyte = 1_000_000

export function createDiskCheck(options: DiskOptions): Check {
  const dataDir = resolve(options.dataDir)
  return {
    name: 'disk',
    async look() {
      const place = await existing(dataDir)
      const unfit = await unfitness(dataDir, place)
      if (unfit !== undefined) return [bad(unfit, cure)]
      return [await usable(dataDir, place, options.warningOn), await room(place, options)]
    },
  }
}

const cure = 'Make it writable for the user of the platform, or name another one in SWITCHHOOK_DATA_DIR.'

/** Returns why no user can have the directory there, so that a start would fail. */
async function unfitness(dataDir: string, place: string): Promise<string | undefined> {
  const isThere = place === dataDir
  const cannot = isThere
    ? `The data directory ${dataDir} cannot be used`
    : `The data directory ${dataDir} cannot be made`
  const facts = await stat(place).catch(() => undefined)
  if (facts?.isDirectory() === false) return `${cannot}: ${place} is a file`
  const names = relative(place, dataDir).split(sep)
  if (names.some((name) => Buffer.byteLength(name) > maxNameBytes)) return `${cannot}: its name is too long`
  // File systems such as /proc and /sys accept neither directories nor files.
  const { blocks, files } = await statfs(place)
  return blocks === 0 && files === 0 ? `${cannot}: ${place} cannot hold files` : undefined
}

async function usable(dataDir: string, place: string, warningOn: DiskOptions['warningOn']): Promise<Finding> {
  const isThere = place === dataDir
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

/** Returns the nearest existing folder at or above the path. */
async function existing(path: string): Promise<string> {
  const isThere = await access(path).then(
    () => true,
    () => false,
  )
  return isThere || dirname(path) === path ? path : existing(dirname(path))
}
