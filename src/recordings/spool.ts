// The recordings folder of the data directory: audio that is being recorded or waits to be stored, and the recordings
// of accounts without a bucket.
import { createReadStream } from 'node:fs'
import {
  copyFile,
  link,
  mkdir,
  open,
  readdir,
  readFile,
  rm,
  stat,
  truncate,
  writeFile,
} from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { StoredRecording } from '../contracts/recording.ts'
import { AppError } from '../lib/errors.ts'
import { createSid } from '../lib/ids.ts'
import type { Finished } from './finish.ts'
import type { KeptRecordings } from './recordings.ts'
import { dataBytesIn, headerBytes, headerOf } from './wav-file.ts'

export interface Spool extends Pick<KeptRecordings, 'read'> {
  /** Identifies the data directory. */
  readonly id: string
  /** Returns the size of its spooled files, without those of some calls. */
  bytes(except?: ReadonlySet<string>): Promise<number>
  /** Returns the calls with spooled files. */
  list(): Promise<readonly string[]>
  open(): Promise<void>
  /** The path of a call's audio while it is recorded. */
  wavOf(call_sid: string): string
  mp3Of(call_sid: string): string
  /** Completes the header of an unfinished file. Returns its bytes of audio, or undefined if there is no file. */
  mend(call_sid: string): Promise<number | undefined>
  /** Returns the time since the last write to it; undefined if there is no file. */
  silentMs(call_sid: string, nowMs: number): Promise<number | undefined>
  /** Puts a file among the kept recordings of accounts. It stays in the spool until that is cleared. */
  keep(
    file: Pick<Finished, 'path' | 'bytes'>,
    recording: Pick<StoredRecording, 'account_sid' | 'key'>,
  ): Promise<void>
  /** Throws AppError not_found if another node has it. */
  removeFile(recording: StoredRecording): Promise<void>
  /** Removes the spooled files of a call. */
  clear(call_sid: string): Promise<void>
}

export function createSpool(dataDir: string): Spool {
  const root = join(dataDir, 'recordings')
  const spool = join(root, 'spool')
  let id = ''
  const wavOf = (call_sid: string): string => join(spool, `${call_sid}.wav`)
  const mp3Of = (call_sid: string): string => join(spool, `${call_sid}.mp3`)
  const keptPath = ({ account_sid, key }: Pick<StoredRecording, 'account_sid' | 'key'>): string =>
    join(root, 'kept', account_sid, key)

  function demandHere(recording: StoredRecording): void {
    if (recording.spool === id) return
    throw new AppError('not_found', 'the recording is on the disk of another node', {
      cure: 'Request it from that node, or set bucket_credential of the account to store recordings in a bucket.',
    })
  }

  return {
    get id() {
      return id
    },
    async bytes(except = new Set()) {
      let bytes = 0
      for (const name of await readdir(spool))
        if (!except.has(callOf(name))) bytes += (await sizeOf(join(spool, name))) ?? 0
      return bytes
    },
    async list() {
      return [...new Set((await readdir(spool)).map(callOf))]
    },
    wavOf,
    mp3Of,
    async open() {
      await mkdir(spool, { recursive: true, mode: 0o700 })
      id = await nameOf(join(root, 'id'))
    },
    async mend(call_sid) {
      const path = wavOf(call_sid)
      const size = await sizeOf(path)
      if (size === undefined) return undefined
      const data = dataBytesIn(size)
      const file = await open(path, 'r+')
      try {
        await file.write(headerOf(data), 0, headerBytes, 0)
      } finally {
        await file.close()
      }
      await truncate(path, headerBytes + data)
      return data
    },
    async silentMs(call_sid, nowMs) {
      const found = await stat(wavOf(call_sid)).catch(() => undefined)
      return found === undefined ? undefined : nowMs - found.mtimeMs
    },
    async keep({ path, bytes }, recording) {
      const target = keptPath(recording)
      await mkdir(dirname(target), { recursive: true, mode: 0o700 })
      // If the process is killed here, the file is still in the spool.
      await rm(target, { force: true })
      try {
        if (bytes !== undefined) await writeFile(target, bytes, { mode: 0o600 })
        // Not every file system has links, and none across disks.
        else await link(path, target).catch(() => copyFile(path, target))
      } catch (error) {
        // A part would take the last space of a full disk, and stay for ever if the recording is given up.
        await rm(target, { force: true }).catch(() => undefined)
        throw error
      }
    },
    async clear(call_sid) {
      await rm(wavOf(call_sid), { force: true })
      await rm(mp3Of(call_sid), { force: true })
    },
    async read(recording, range) {
      demandHere(recording)
      const path = keptPath(recording)
      const size = await sizeOf(path)
      if (size === undefined) throw new AppError('not_found', 'the file of the recording is gone')
      const part = partOf(range, size)
      if (part === undefined) return { body: createReadStream(path), bytes: size, range: undefined }
      const { start, end } = part
      return {
        body: createReadStream(path, { start, end }),
        bytes: end - start + 1,
        range: `bytes ${start}-${end}/${size}`,
      }
    },
    async removeFile(recording) {
      demandHere(recording)
      await rm(keptPath(recording), { force: true })
    },
  }
}

/** Returns an identifier that stays with the directory wherever it is mounted. */
async function nameOf(path: string): Promise<string> {
  const known = await readFile(path, 'utf8').catch(() => '')
  if (known !== '') return known
  // If two processes start at the same time, only one of them creates it.
  await writeFile(path, createSid(), { flag: 'wx', mode: 0o600 }).catch(() => undefined)
  return readFile(path, 'utf8')
}

function callOf(name: string): string {
  return name.replace(/\.\w+$/, '')
}

async function sizeOf(path: string): Promise<number | undefined> {
  return (await stat(path).catch(() => undefined))?.size
}

/** `range` is a single part, as checked by the API. Throws AppError range_not_satisfiable (RFC 9110 §15.5.17). */
function partOf(range: string | undefined, size: number): { start: number; end: number } | undefined {
  const found = /^bytes=(\d*)-(\d*)$/.exec(range ?? '')
  if (found === null) return undefined
  const [, first = '', last = ''] = found
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first)
  const end = first === '' || last === '' ? size - 1 : Math.min(size - 1, Number(last))
  if (start > end || start >= size)
    throw new AppError('range_not_satisfiable', 'the recording has no such part', {
      contentRange: `bytes */${size}`,
    })
  return { start, end }
}
