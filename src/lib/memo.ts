// Remembers what was looked up until something has changed: many calls in a row ask the same questions.
import type { Clock } from './clock.ts'

export interface MemoOptions {
  /** A number that has risen once anything an answer rests on has changed. */
  readonly revision: () => number
  readonly clock: Clock
  /** How long an answer may be kept at most: what another process changes is not in the revision. */
  readonly lifetimeMs: number
  readonly maxEntries: number
}

interface Entry<V> {
  readonly value: V
  readonly until: number
}

export type Memo<V> = (key: string, load: () => Promise<V | undefined>) => Promise<V | undefined>

/** `undefined` is not remembered: nobody can fill the memory with names that do not exist. */
export function createMemo<V>({ revision, clock, lifetimeMs, maxEntries }: MemoOptions): Memo<V> {
  const entries = new Map<string, Entry<V>>()
  let seen = revision()

  return async (key, load) => {
    const before = revision()
    if (before !== seen) {
      entries.clear()
      seen = before
    }
    const now = clock.monotonic()
    const known = entries.get(key)
    if (known !== undefined && known.until > now) return known.value
    const value = await load()
    // Read before a change and answered after it: true for this caller, not for the next.
    if (value === undefined || revision() !== before) return value
    if (entries.size >= maxEntries) entries.clear()
    entries.set(key, { value, until: now + lifetimeMs })
    return value
  }
}
