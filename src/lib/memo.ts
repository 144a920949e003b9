// A cache of look-ups until something has changed: many calls in a row look up the same values.
import type { Clock } from './clock.ts'

export interface MemoOptions<V> {
  /** Returns a number that has risen once anything that a value depends on has changed. */
  readonly revision: () => number
  readonly clock: Clock
  /** The longest time that a value is kept: changes by another process are not in the revision. */
  readonly lifetimeMs: number
  /** The most that is kept, in entries or in the unit of `sizeOf`. */
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
 * `undefined` is not kept, so that names that do not exist cannot fill the memory. One of several simultaneous callers
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
    // A value that was read before a change is right for this caller, but not for the next.
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
      // Later callers must not get a value that was read before the change.
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
