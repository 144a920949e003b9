// Which keys were noted lately: each one for a while, and no more of them than there is room for.
import type { Clock } from './clock.ts'

export interface Recent {
  note(key: string): void
  has(key: string): boolean
}

export interface RecentOptions {
  readonly clock: Clock
  readonly lifetimeMs: number
  /** Beyond it the key that was noted longest ago is forgotten. */
  readonly capacity: number
}

export function createRecent({ clock, lifetimeMs, capacity }: RecentOptions): Recent {
  /** When each key ends; in the order they were noted, the latest last. */
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
