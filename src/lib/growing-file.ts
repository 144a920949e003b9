// A file that is read while it is written, by threads that share only the disk. While it grows, a mark lies beside it;
// a writer that gives up leaves its reason in the mark.
import { readFile, rm, writeFile, type FileHandle } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { AppError, type ErrorCode } from './errors.ts'

// A tenth of the audio that a listener has read ahead.
const lookEveryMs = 50
// A writer that has added nothing for this long has died.
const standstillMs = 10_000

interface Reason {
  readonly code: ErrorCode
  readonly message: string
  readonly cure: string
}

function markOf(path: string): string {
  return `${path}.grows`
}

/** Marks a file before the first reader opens it. */
export async function markAsGrowing(path: string): Promise<void> {
  await writeFile(markOf(path), '', { mode: 0o600 })
}

/** Marks the file as complete. */
export async function markAsWhole(path: string): Promise<void> {
  await rm(markOf(path), { force: true })
}

/** Marks the file as incomplete for this reason. Readers get it when they come to the end. */
export async function markAsBroken(path: string, { code, message, cure }: AppError): Promise<void> {
  const reason: Reason = { code, message, cure }
  await writeFile(markOf(path), JSON.stringify(reason), { mode: 0o600 })
}

/** Throws the reason of a writer that gave up. */
export async function isGrowing(path: string): Promise<boolean> {
  const mark = await readFile(markOf(path), 'utf8').catch(() => undefined)
  if (mark === undefined) return false
  if (mark === '') return true
  const { code, message, cure } = JSON.parse(mark) as Reason
  throw new AppError(code, message, { cure })
}

export interface GrowthOptions {
  /** Called while the reader waits for the writer. */
  readonly onWait?: () => void
}

/**
 * Resolves with up to `length` bytes at `offset`; with fewer than `atLeast` (all, if left out) only at the end. Throws
 * the reason of a writer that gave up, and audio_not_found when nothing has come for ten seconds.
 */
export type ReadGrowing = (offset: number, length: number, atLeast?: number) => Promise<Uint8Array>

/** Returns a reader that treats a file that may be growing as whole: it waits for missing bytes. */
export function readerOf(file: FileHandle, path: string, { onWait }: GrowthOptions = {}): ReadGrowing {
  return async (offset, length, atLeast = length) => {
    const bytes = new Uint8Array(length)
    let filled = 0
    const fill = async (): Promise<boolean> => {
      const { bytesRead } = await file.read(bytes, filled, length - filled, offset + filled)
      filled += bytesRead
      return bytesRead > 0
    }
    let waitedMs = 0
    while (filled < length) {
      if (await fill()) {
        waitedMs = 0
        continue
      }
      if (filled >= atLeast) break
      if (!(await isGrowing(path))) {
        // The file may have grown to its end between the two checks.
        while (filled < length && (await fill()));
        break
      }
      if (waitedMs >= standstillMs)
        throw new AppError('audio_not_found', 'the rest of the audio did not come in time')
      onWait?.()
      await delay(lookEveryMs)
      waitedMs += lookEveryMs
    }
    return bytes.subarray(0, filled)
  }
}
