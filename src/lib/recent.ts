// Keys that were noted recently, each kept for a while, up to a limit.
import type { Clock } from './clock.ts'

export interface Recent {
  note(key: string): void
  has(key: string): boolean
}

export interface RecentOptions {
  readonly clock: Clock
  readonly lifetimeMs: number
  /** Beyond it, the key noted longest ago is dropped. */
  readonly capacity: number
}

export function createRecent({ clock, lifetimeMs, capacity }: RecentOptions): Recent {
  /** The end of each key, in the order they were noted, the latest last. */
  const ends = new Map<string, number>()
  return {
    note(key) {
      ends.delete(key)
      ends.set(key, clock.monotonic() + lifetimeMs)
      if (ends.size <= capacity) return
      const [oldest] = ends.keys()
      if (oldest !== undefined) ends.delete(oldest)
    },
    has(key) {
      const end = ends.get(key)
      if (end === undefined) return false
      if (end > clock.monotonic()) return true
      ends.delete(key)
      return false
    },
  }
}
