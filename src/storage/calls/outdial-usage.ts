// The outbound calls of accounts, counted by account and process. Each process writes its own rows a few times a
// minute, in few transactions, and reads those of others. Rows from before a restart count as those of another process.
import type { OutdialUsage, OutdialUsageStore } from '../../contracts/outdial-usage.ts'
import { createSid } from '../../lib/ids.ts'
import type { Cells, Database } from '../database/database.ts'
import { prepare, slot, slots } from '../database/prepared.ts'

const columns = [
  'account_sid',
  'node_id',
  'minute',
  'calls_in_minute',
  'day',
  'spoken_ms',
  'live',
  'counted_at',
] as const

// One transaction holds the thread for some 10 ms at this size.
const maxPerTransaction = 200

export function createOutdialUsageStore(database: Database): OutdialUsageStore {
  const queries = createQueries(database)
  const node_id = createSid()
  let sweptDay = 0
  let known: { readonly day: number; readonly usages: readonly OutdialUsage[] } | undefined

  async function write(usages: readonly OutdialUsage[]): Promise<void> {
    for (let at = 0; at < usages.length; at += maxPerTransaction) {
      const part = usages.slice(at, at + maxPerTransaction)
      await database.commitBeside(async (session) => {
        for (const usage of part) await queries.save.all(session, { ...toCells(usage), node_id })
      })
    }
  }

  return {
    get isShared() {
      return database.isShared
    },
    async exchange(own, day) {
      await write(own)
      if (sweptDay !== day) {
        await database.commitBeside((session) => queries.sweep.all(session, { day: day - 1 }))
        sweptDay = day
      }
      // Without other processes, the rows from before this start do not change.
      if (!database.isShared && known?.day === day) return known.usages
      const rows = await queries.others.all(database.reader, { node_id, day })
      known = { day, usages: rows.map(toUsage) }
      return known.usages
    },
  }
}

function createQueries({ builder: db }: Database) {
  const values = slots(columns)
  const { account_sid: _account, node_id: _node, ...changed } = values
  return {
    // An account that was removed meanwhile yields no row here; inserting one would violate the foreign key.
    save: prepare(
      db
        .insertInto('outdial_usage')
        .columns([...columns])
        .expression((eb) =>
          eb
            .selectFrom('accounts')
            .select((from) => [
              'account_sid',
              ...columns
                .slice(1)
                .map((column) => from.cast(from.val(values[column]), typeOf(column)).as(column)),
            ])
            .where('account_sid', '=', values.account_sid),
        )
        .onConflict((conflict) => conflict.columns(['account_sid', 'node_id']).doUpdateSet(changed)),
    ),
    others: prepare(
      db
        .selectFrom('outdial_usage')
        .select([...columns])
        .where('node_id', '<>', slot('node_id'))
        .where('day', '>=', slot('day')),
    ),
    sweep: prepare(db.deleteFrom('outdial_usage').where('day', '<', slot('day'))),
  }
}

function typeOf(column: (typeof columns)[number]): 'text' | 'bigint' | 'integer' {
  if (column === 'node_id' || column === 'account_sid') return 'text'
  return column === 'live' || column === 'calls_in_minute' ? 'integer' : 'bigint'
}

function toCells({ account_sid, callsInMinute, spokenMs, at, ...usage }: OutdialUsage): Cells {
  return {
    ...usage,
    account_sid,
    calls_in_minute: callsInMinute,
    spoken_ms: Math.round(spokenMs),
    counted_at: at,
  }
}

function toUsage(row: Cells): OutdialUsage {
  return {
    account_sid: String(row['account_sid']),
    minute: Number(row['minute']),
    callsInMinute: Number(row['calls_in_minute']),
    day: Number(row['day']),
    spokenMs: Number(row['spoken_ms']),
    live: Number(row['live']),
    at: Number(row['counted_at']),
  }
}
