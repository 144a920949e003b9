// The check of the machine's clock, against those of servers that other checks contact.
import type { Clock } from '../lib/clock.ts'
import type { Outgoing } from '../outgoing/outgoing.ts'
import { rowsIfAny, type Rows } from './database.ts'
import { bad, note, ok, type Check } from './doctor.ts'

/** The lead of another machine's clock over this one: a range, since a request takes time. */
export interface ClockSample {
  readonly of: string
  readonly leastMs: number
  readonly mostMs: number
}

export interface ClockCheckOptions {
  readonly rows: Rows
  /** Resolves when no more come. */
  readonly samples: () => Promise<readonly ClockSample[]>
  readonly clock: Clock
}

// Nodes that share a database warn from here on; above a minute they refuse logins.
const toleranceMs = 2000

export function createClockCheck({ rows, samples, clock }: ClockCheckOptions): Check {
  return {
    name: 'clock',
    async look() {
      const all = [...(await sampleOfDatabase(rows, clock)), ...(await samples())]
      // One of several clocks may be wrong itself.
      const [nearest] = all.toSorted((a, b) => offOf(a) - offOf(b))
      if (nearest === undefined) return [note('Not checked: no server that was contacted reported its time')]
      const off = offOf(nearest)
      if (off <= toleranceMs) return [ok(`It agrees with that of ${nearest.of}`)]
      const way = nearest.leastMs > 0 ? 'behind' : 'ahead of'
      return [
        bad(
          `It is ${Math.round(off / 1000)} seconds ${way} that of ${nearest.of}`,
          'Let the machine follow NTP: "timedatectl set-ntp true" where systemd runs. Otherwise signatures and tokens fail.',
        ),
      ]
    },
  }
}

function offOf({ leastMs, mostMs }: ClockSample): number {
  if (leastMs <= 0 && mostMs >= 0) return 0
  return Math.min(Math.abs(leastMs), Math.abs(mostMs))
}

async function sampleOfDatabase(rows: Rows, clock: Clock): Promise<readonly ClockSample[]> {
  const look = await rowsIfAny(rows)
  if (look?.now === undefined) return []
  const before = clock.now()
  const theirs = await look.now()
  return [{ of: 'the database', leastMs: theirs - clock.now(), mostMs: theirs - before }]
}

/** Notes the Date header of each response. */
export function notingDates(
  outgoing: Outgoing,
  { clock, note: take }: { readonly clock: Clock; readonly note: (sample: ClockSample) => void },
): Outgoing {
  return {
    ...outgoing,
    async request(request) {
      const before = clock.now()
      const answer = await outgoing.request(request)
      const date = Date.parse(String(answer.headers['date']))
      // RFC 9110 §6.6.1: whole seconds.
      if (Number.isFinite(date))
        take({
          of: new URL(request.url).hostname,
          leastMs: date - clock.now(),
          mostMs: date + 1000 - before,
        })
      return answer
    },
  }
}
