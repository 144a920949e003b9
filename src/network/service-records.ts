// SRV and NAPTR records, kept for a while: Node.js does not say how long their server wants them kept.
import type { Resolver } from 'node:dns/promises'
import type { Clock } from '../lib/clock.ts'
import { AppError } from '../lib/errors.ts'
import { createRecentValues } from '../lib/recent-values.ts'
import type { Names, PointerRecord, ServiceRecord } from './names.ts'

export interface ServiceRecordsOptions {
  /** None where there are none. Rejects where no server says so. */
  readonly ask: <T>(name: string, of: (resolver: Resolver) => Promise<readonly T[]>) => Promise<readonly T[]>
  readonly clock: Clock
}

// What a carrier has moved is found within a minute, and each call of a busy platform asks nothing.
const keptMs = 60_000
// A record that was just made is found soon, as an address is.
const absentMs = 5_000
const maxKept = 10_000

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
        const found = await ask(name, (resolver) => of(resolver, name))
        known.keep(name, found, found.length === 0 ? absentMs : keptMs)
        return found
      } catch (error) {
        // Too much is being asked: that says nothing of the name.
        if (error instanceof AppError) throw error
        // Some name servers are silent on records that they do not know: the addresses of the host are asked for then.
        known.keep(name, [], absentMs)
        return []
      }
    }
    return (host) => {
      const name = host.toLowerCase()
      const kept = known.get(name)
      if (kept !== undefined) return Promise.resolve(kept)
      // When many want the same records at once, one asks.
      const present = underWay.get(name)
      if (present !== undefined) return present
      const asked = learn(name).finally(() => underWay.delete(name))
      underWay.set(name, asked)
      return asked
    }
  }
  return {
    services: remembering<ServiceRecord>(async (resolver, name) =>
      (await resolver.resolveSrv(name)).map(({ name: target, port, priority, weight }) => {
        return { name: target, port, priority, weight }
      }),
    ),
    pointers: remembering<PointerRecord>((resolver, name) => resolver.resolveNaptr(name)),
  }
}
