// Limits of the log lines of one kind. An operator who looks for one source finds a line about it, and scanners, which
// come all day, do not fill the disk.
import type { Clock } from './clock.ts'
import { createRecent } from './recent.ts'
import { createTokenBuckets } from './bounds/token-buckets.ts'

const perSource = { lifetimeMs: 60_000, capacity: 1_000 }
const perKind = { capacity: 20, refillMs: 60_000 }

/**
 * Reports whether a line of this kind about this source may be written: one a minute, and twenty for all sources
 * together.
 */
export type LogBounds = (kind: string, source: string) => boolean

export function createLogBounds(clock: Clock): LogBounds {
  const known = createRecent({ clock, ...perSource })
  const lines = createTokenBuckets(clock)
  return (kind, source) => {
    const key = `${kind} ${source}`
    if (known.has(key) || lines.take(kind, perKind) > 0) return false
    known.note(key)
    return true
  }
}
