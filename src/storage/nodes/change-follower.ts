// The changes of other processes, read from the audit log a few times a second. Polling is used instead of the
// server's notifications, because the time of each poll is known and connection poolers support it.
import type { Clock, Timer } from '../../lib/clock.ts'
import type { Logger } from '../../lib/log.ts'
import type { Database } from '../database/database.ts'
import { prepare, slot } from '../database/prepared.ts'
import type { ChangedTables } from '../rows/revisions.ts'

export interface ChangeFollower {
  /** Whether every change that others made until a moment ago has been reported. */
  readonly isCurrent: boolean
  start(): Promise<void>
  stop(): Promise<void>
}

export interface ChangeFollowerOptions {
  readonly database: Database
  /** Runs after changes. `changed` is undefined when there were too many to report each. */
  readonly onChanged: (changed: ChangedTables | undefined) => void
  readonly clock: Clock
  readonly log: Logger
}

const lookEveryMs = 250
// A credential that is revoked on one node is refused by all within a second: rows in memory are trusted only this
// long after the beginning of a poll.
const currentMs = 900
const maxEntries = 200

const alone: ChangeFollower = {
  isCurrent: true,
  start: () => Promise.resolve(),
  stop: () => Promise.resolve(),
}

/** Returns a follower; if no other process shares the database, there is nothing to follow. */
export function createChangeFollower(options: ChangeFollowerOptions): ChangeFollower {
  return options.database.isShared ? follow(options) : alone
}

function follow(options: ChangeFollowerOptions): ChangeFollower {
  const { onChanged, clock, log } = options
  const { pulse } = options.database
  const queries = createQueries(options.database)
  let seq = 0
  let currentAt = Number.NEGATIVE_INFINITY
  let timer: Timer | undefined
  let looking: Promise<void> | undefined
  let isFailing = false
  let isStopped = false

  async function look(): Promise<void> {
    const begunAt = clock.monotonic()
    try {
      const entries = await queries.entries.all(pulse, { seq })
      if (entries.length === maxEntries) await skip()
      else if (entries.length > 0) {
        seq = Number(entries.at(-1)?.['seq'])
        const known = entries.filter(({ action }) => action !== 'create')
        const tables = (of: typeof entries): Set<string> =>
          new Set(of.map(({ resource }) => String(resource)))
        onChanged({ all: tables(entries), known: tables(known) })
      }
      currentAt = begunAt
      isFailing = false
    } catch (error) {
      if (!isFailing) log.warn({ err: error }, 'changes of other nodes cannot be read: nothing is remembered')
      isFailing = true
    }
    if (!isStopped) lookLater()
  }

  async function skip(): Promise<void> {
    const [head] = await queries.head.all(pulse, {})
    seq = Number(head?.['seq'] ?? seq)
    onChanged(undefined)
  }

  function lookLater(): void {
    timer = clock.after(lookEveryMs, () => {
      looking = look()
    })
  }

  return {
    get isCurrent() {
      return clock.monotonic() - currentAt < currentMs
    },
    async start() {
      const begunAt = clock.monotonic()
      await skip()
      currentAt = begunAt
      lookLater()
    },
    async stop() {
      isStopped = true
      timer?.cancel()
      await looking
    },
  }
}

function createQueries({ builder: db }: Database) {
  return {
    head: prepare(db.selectFrom('audit_log').select((eb) => eb.fn.max('seq').as('seq'))),
    entries: prepare(
      db
        .selectFrom('audit_log')
        .select(['seq', 'resource', 'action'])
        .where('seq', '>', slot('seq'))
        .orderBy('seq')
        .limit(maxEntries),
    ),
  }
}
