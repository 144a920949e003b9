// Values that are kept for a while, each with its own lifetime, up to a limit.
import type { Clock } from './clock.ts'

export interface RecentValues<T> {
  keep(key: string, value: T, lifetimeMs: number): void
  get(key: string): T | undefined
}

export interface RecentValuesOptions {
  readonly clock: Clock
  /** Beyond it, the value kept longest ago is dropped. */
  readonly capacity: number
}

export function createRecentValues<T>({ clock, capacity }: RecentValuesOptions): RecentValues<T> {
  const kept = new Map<string, { readonly value: T; readonly until: number }>()
  return {
    keep(key, value, lifetimeMs) {
      kept.delete(key)
      kept.set(key, { value, until: clock.monotonic() + lifetimeMs })
      if (kept.size <= capacity) return
      const [oldest] = kept.keys()
      if (oldest !== undefined) kept.delete(oldest)
    },
    get(key) {
      const found = kept.get(key)
      return found === undefined || found.until <= clock.monotonic() ? undefined : found.value
    },
  }
}
