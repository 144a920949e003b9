// Remembers what was looked up until something has changed: many calls in a row ask the same questions.
import type { Clock } from './clock.ts'

export interface MemoOptions<V> {
  /** A number that has risen once anything an answer rests on has changed. */
  readonly revision: () => number
  readonly clock: Clock
  /** How long an answer may be kept at most: what another process changes is not in the revision. */
  readonly lifetimeMs: number
  /** How much is kept at most: entries, or what `sizeOf` counts in. */
  readonly capacity: number
  /** A value larger than the capacity is not kept. */
  readonly sizeOf?: (value: V) => number
}

interface Entry<V> {
  readonly value: V
  readonly until: number
  readonly size: number
}

export type Memo<V> = (key: string, load: () => Promise<V | undefined>) => Promise<V | undefined>

/**
 * `undefined` is not remembered, so that names which do not exist cannot fill the memory. Of many callers at once, one
 * loads.
 */
export function createMemo<V>(options: MemoOptions<V>): Memo<V> {
  const { revision, clock, lifetimeMs, capacity, sizeOf = () => 1 } = options
  const entries = new Map<string, Entry<V>>()
  const loading = new Map<string, Promise<V | undefined>>()
  let seen = revision()
  let held = 0

  function forget(): void {
    entries.clear()
    held = 0
  }

  async function remember(key: string, load: () => Promise<V | undefined>): Promise<V | undefined> {
    const before = seen
    const value = await load()
    // Read before a change and answered after it: true for this caller, not for the next.
    if (value === undefined || revision() !== before) return value
    const size = sizeOf(value)
    held -= entries.get(key)?.size ?? 0
    entries.delete(key)
    if (size > capacity) return value
    if (held + size > capacity) forget()
    entries.set(key, { value, until: clock.monotonic() + lifetimeMs, size })
    held += size
    return value
  }

  return async (key, load) => {
    const before = revision()
    if (before !== seen) {
      forget()
      // A caller from now on must not get what was read before the change.
      loading.clear()
      seen = before
    }
    const known = entries.get(key)
    if (known !== undefined && known.until > clock.monotonic()) return known.value
    const underWay = loading.get(key)
    if (underWay !== undefined) return await underWay
    const loaded = remember(key, load)
    loading.set(key, loaded)
    try {
      return await loaded
    } finally {
      if (loading.get(key) === loaded) loading.delete(key)
    }
  }
}
