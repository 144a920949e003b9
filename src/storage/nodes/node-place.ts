// The lock file of a data directory. Only one process can hold it, and can then rely on the former holder being gone.
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { takeProcessLock, type ProcessLock } from '../database/process-lock.ts'

export interface NodePlace extends ProcessLock {
  /** Tries to take the place. Of several nodes that share a data directory for its key, only the first gets it. */
  take(): void
  readonly isHeld: boolean
  /** Undefined if the place is not held, or if nothing distinguishes it from others. */
  readonly name: string | undefined
}

export function createNodePlace(dataDir: string): NodePlace {
  const path = join(dataDir, 'node.lock')
  let lock: ProcessLock | undefined
  let name: string | undefined
  return {
    take() {
      try {
        lock = takeProcessLock(path)
        name = nameOf(path)
      } catch {
        // The file is held by another node, or on a disk that cannot be written.
      }
    },
    get isHeld() {
      return lock !== undefined
    },
    get name() {
      return name
    },
    release() {
      lock?.release()
      lock = undefined
      name = undefined
    },
  }
}

/** Returns the name of a place. A copied directory is another file and a copied machine another boot: other places. */
function nameOf(path: string): string | undefined {
  try {
    const { dev, ino } = statSync(path)
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    return `${boot} ${dev}:${ino}`
  } catch {
    return undefined
  }
}
