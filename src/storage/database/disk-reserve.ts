// The reserve of the disk with the embedded database: what must be written on a disk that is full still can be. While
// little is left, new calls and the changes of tenants are refused, so that records of calls, administrators, logins and
// removals have the rest. docs/decisions/0110-full-disk.md says why.
import { randomBytes } from 'node:crypto'
import { statfsSync } from 'node:fs'
import { open, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Clock, Timer } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import { isDiskFull, lowDisk } from '../../lib/full-disk.ts'
import type { Logger } from '../../lib/log.ts'

export interface DiskReserve {
  /** Returns why writes that can wait are refused now, or undefined. */
  refusal(): AppError | undefined
  /** Whether the rest is for administrators, logins and removals: calls wait in memory. */
  readonly holdsCalls: boolean
  /** Must be called with the error of each write that failed. */
  failed(error: unknown): void
  start(): Promise<void>
  stop(): Promise<void>
}

export interface DiskReserveOptions {
  /** The file that is removed when the disk is full. Undefined where the database is on another machine. */
  readonly path: string | undefined
  /** The most that is reserved. A small disk has a smaller reserve. */
  readonly bytes: number
  /** Returns the bytes that the database can write without a larger file. */
  readonly spareBytes: () => Promise<number>
  readonly clock: Clock
  readonly log: Logger
}

const lookEveryMs = 1000
// Writes of different sizes succeed and fail in turn on a disk that is nearly full.
const failingMs = 5000
const shareOfDisk = 0.05
const chunkBytes = 1_048_576

export function createDiskReserve({ path, bytes, spareBytes, clock, log }: DiskReserveOptions): DiskReserve {
  let size = 0
  let isReleased = true
  let room = Number.POSITIVE_INFINITY
  let failedAt = Number.NEGATIVE_INFINITY
  let timer: Timer | undefined
  let working: Promise<void> = Promise.resolve()
  let isStopped = false
  let wasLow = false

  const isFailing = (): boolean => clock.monotonic() - failedAt < failingMs
  const isLow = (): boolean => isFailing() || room < size

  /** Removes the file, so that its room can be used. */
  async function release(file: string): Promise<void> {
    if (isReleased) return
    isReleased = true
    await rm(file, { force: true })
    log.error({ bytes: size, path: file }, 'the disk is full: the reserve is released for administrators')
  }

  /** Writes the file again. Bytes of chance, since a file system may store others in no room. */
  async function restore(file: string): Promise<void> {
    const chunk = randomBytes(Math.min(chunkBytes, size))
    const half = `${file}.part`
    try {
      const written = await open(half, 'w', 0o600)
      try {
        for (let at = 0; at < size; at += chunk.length)
          await written.write(chunk, 0, Math.min(chunk.length, size - at))
        await written.datasync()
      } finally {
        await written.close()
      }
      await rename(half, file)
      isReleased = false
    } catch (error) {
      await rm(half, { force: true })
      if (!isDiskFull(error)) throw error
    }
  }

  async function look(file: string): Promise<void> {
    const { bavail, bsize } = statfsSync(dirname(file))
    const free = bavail * bsize
    room = free + (await spareBytes())
    if (isFailing()) await release(file)
    else if (isReleased && free >= 2 * size) await restore(file)
    if (isLow() !== wasLow) {
      wasLow = !wasLow
      if (wasLow) log.error({ freeBytes: room }, 'the disk is nearly full: calls and changes are refused')
      else log.info({ freeBytes: room }, 'the disk has room again')
    }
  }

  function lookNow(): void {
    if (path === undefined || size === 0 || isStopped) return
    timer?.cancel()
    timer = undefined
    working = working
      .then(() => look(path))
      .catch((error: unknown) => log.warn({ err: error }, 'the room on the disk is not known'))
      .finally(() => {
        if (!isStopped) timer ??= clock.after(lookEveryMs, lookNow)
      })
  }

  return {
    refusal: () => (isLow() ? lowDisk() : undefined),
    get holdsCalls() {
      return isReleased && size > 0 && room < size / 2
    },
    failed(error) {
      if (!(error instanceof AppError && error.code === 'disk_full')) return
      const isNew = !isFailing()
      failedAt = clock.monotonic()
      if (isNew) lookNow()
    },
    async start() {
      isStopped = false
      if (path === undefined || bytes === 0) return
      const { blocks, bsize } = statfsSync(dirname(path))
      size = Math.min(bytes, Math.floor(blocks * bsize * shareOfDisk))
      const kept = await stat(path).catch(() => undefined)
      // A file of another size was made with another setting.
      isReleased = kept?.size !== size
      if (isReleased) await rm(path, { force: true })
      lookNow()
    },
    async stop() {
      isStopped = true
      timer?.cancel()
      timer = undefined
      await working
    },
  }
}
