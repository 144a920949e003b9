// What only one process can hold at a time: the lock file of a data directory. Who holds it now knows that the process
// that held it before is gone.
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { takeProcessLock } from './process-lock.ts'
import type { ProcessLock } from './process-lock.ts'

export interface NodePlace extends ProcessLock {
  /** Undefined where the place cannot be told from others. */
  readonly name: string | undefined
}

export const noPlace: NodePlace = { name: undefined, release: () => undefined }

/** Several nodes may share a data directory for its key: the first of them has the place, the others have none. */
export function takePlace(dataDir: string): NodePlace {
  const path = join(dataDir, 'node.lock')
  let lock: ProcessLock
  try {
    lock = takeProcessLock(path)
  } catch {
    // Held by another node, or on a disk that cannot be written.
    return noPlace
  }
  try {
    // A copy of the directory is another file, and a copy of the machine another boot: neither is the same place.
    const { dev, ino } = statSync(path)
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    return { ...lock, name: `${boot} ${dev}:${ino}` }
  } catch {
    return { ...lock, name: undefined }
  }
}
