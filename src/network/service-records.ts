// SRV and NAPTR records, kept for a fixed time: Node.js does not report their TTL.
import type { Resolver } from 'node:dns/promises'
import type { Clock } from '../lib/clock.ts'
import { AppError } from '../lib/errors.ts'
import { createRecentValues } from '../lib/recent-values.ts'
import type { Names, PointerRecord, ServiceRecord } from './names.ts'

export interface ServiceRecordsOptions {
  /** Queries records; returns none if there are none. Rejects if no server responds. */
  readonly ask: <T>(name: string, of: (resolver: Resolver) => Promise<readonly T[]>) => Promise<readonly T[]>
  readonly clock: Clock
}

// Records that a carrier has moved are found within a minute, and calls of a busy platform need no queries.
const keptMs = 60_000
// A record that was just created is found soon, as an address is.
const absentMs = 5_000
const maxKept = 10_000
// No domain has more. One response can have thousands, which would all be kept.
const maxRecords = 32

export function createServiceRecords({
  ask,
  clock,
}: ServiceRecordsOptions): Pick<Names, 'services' | 'pointers'> {
  const remembering = <T>(
    of: (resolver: Resolver, name: string) => Promise<readonly T[]>,
  ): ((name: string) => Promise<readonly T[]>) => {
    const known = createRecentValues<readonly T[]>({ clock, capacity: maxKept })
    const underWay = new Map<string, Promise<readonly T[]>>()
    const learn = async (name: string): Promise<readonly T[]> => {
      try {
        const found = (await ask(name, (resolver) => of(resolver, name))).slice(0, maxRecords)
        known.keep(name, found, found.length === 0 ? absentMs : keptMs)
        return found
      } catch (error) {
        // Too many look-ups are in progress: the result is not about the name.
        if (error instanceof AppError) throw error
        // Some name servers do not respond for record types that they do not know: the host's addresses are looked up
        // then.
        known.keep(name, [], absentMs)
        return []
      }
    }
    return (host) => {
      const name = host.toLowerCase()
      const kept = known.get(name)
      if (kept !== undefined) return Promise.resolve(kept)
      // Concurrent look-ups of the same records share one query.
      const present = underWay.get(name)
      if (present !== undefined) return present
      const asked = learn(name).finally(() => underWay.delete(name))
      underWay.set(name, asked)
      return asked
    }
  }
  return {
    services: remembering<ServiceRecord>(async (resolver, name) =>
      (await resolver.resolveSrv(name))
        .map(({ name: target, port, priority, weight }) => ({ name: target, port, priority, weight }))
        .toSorted((one, other) => one.priority - other.priority),
    ),
    pointers: remembering<PointerRecord>(async (resolver, name) =>
      (await resolver.resolveNaptr(name)).toSorted((one, other) => one.order - other.order),
    ),
  }
}
