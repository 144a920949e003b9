// What only one process can hold at a time: the lock file of a data directory. The process that holds it now knows that the
// one that held it before is gone.
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { takeProcessLock } from '../database/process-lock.ts'
import type { ProcessLock } from '../database/process-lock.ts'

export interface NodePlace extends ProcessLock {
  /** Several nodes may share a data directory for its key: the first of them gets the place, the others have none. */
  take(): void
  readonly isHeld: boolean
  /** Undefined where the place is not held, or nothing distinguishes it from others. */
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
        // Held by another node, or on a disk that cannot be written.
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

/** A copy of the directory is another file, and a copy of the machine another boot: neither is the same place. */
function nameOf(path: string): string | undefined {
  try {
    const { dev, ino } = statSync(path)
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    return `${boot} ${dev}:${ino}`
  } catch {
    return undefined
  }
}
