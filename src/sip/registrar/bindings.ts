// Where registered user agents are, kept in memory: one binding per address of record (RFC 3261 §10).
import { AppError } from '../../lib/errors.ts'
import type { Clock, Timer } from '../../lib/clock.ts'
import type { Binding, BindingStore } from '../sip.ts'

export interface MemoryBindings extends BindingStore {
  /** Stops the sweep. */
  close(): void
  readonly size: number
}

export interface MemoryBindingsOptions {
  readonly clock: Clock
  /** Most bindings kept; a new one beyond is refused with `overloaded`. */
  readonly capacity?: number
}

// Expired bindings are never shown; the sweep only gives their memory back.
const sweepIntervalMs = 60_000

export function createMemoryBindings({ clock, capacity = 100_000 }: MemoryBindingsOptions): MemoryBindings {
  const realms = new Map<string, Map<string, Binding>>()
  let size = 0
  let timer: Timer | undefined

  const drop = (aor: string): void => {
    const realm = realmOf(aor)
    const users = realms.get(realm)
    if (users === undefined || !users.delete(aor)) return
    size--
    if (users.size === 0) realms.delete(realm)
  }
  const sweep = (): void => {
    timer = undefined
    const now = clock.now()
    for (const users of realms.values())
      for (const binding of users.values()) if (binding.expiresAt <= now) drop(binding.aor)
    scheduleSweep()
  }
  const scheduleSweep = (): void => {
    if (timer === undefined && size > 0) timer = clock.after(sweepIntervalMs, sweep)
  }
  const isLive = (binding: Binding): boolean => binding.expiresAt > clock.now()

  return {
    async get(aor) {
      const binding = realms.get(realmOf(aor))?.get(aor)
      return binding !== undefined && isLive(binding) ? binding : undefined
    },
    async put(binding) {
      const realm = realmOf(binding.aor)
      const users = realms.get(realm) ?? new Map<string, Binding>()
      if (!users.has(binding.aor)) {
        if (size >= capacity)
          throw new AppError('overloaded', 'The registrar holds as many bindings as it may.')
        size++
      }
      users.set(binding.aor, binding)
      realms.set(realm, users)
      scheduleSweep()
    },
    async remove(aor) {
      drop(aor)
    },
    async list(realm) {
      const users = realms.get(realm.toLowerCase())?.values() ?? []
      return [...users].filter(isLive).sort((a, b) => (a.aor < b.aor ? -1 : 1))
    },
    close() {
      timer?.cancel()
      timer = undefined
    },
    get size() {
      return size
    },
  }
}

function realmOf(aor: string): string {
  return aor.slice(aor.lastIndexOf('@') + 1).toLowerCase()
}
