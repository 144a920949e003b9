// Adoption of the calls that a dead node has left open: each call by one node only.
import type { UnfinishedCall } from '../../contracts/call-record.ts'
import type { Cells, Database } from '../database/database.ts'
import type { NodeLease } from '../nodes/node-lease.ts'
import { prepare, slot } from '../database/prepared.ts'
import { parseEvents, selectEvents } from './journal-events.ts'

export interface Adoption {
  adopt(): Promise<readonly UnfinishedCall[]>
}

export interface AdoptionOptions {
  readonly database: Database
  readonly lease: Pick<NodeLease, 'nodeId' | 'demand'>
}

// Bounds the memory: one journal has up to 1 MB.
const maxAtOnce = 16

export function createAdoption({ database, lease }: AdoptionOptions): Adoption {
  const queries = createQueries(database)
  /** Calls that were taken over but not yet returned, because reading them failed. */
  const adopted = new Map<string, Omit<UnfinishedCall, 'events'>>()
  /** The calls of a failed transaction: it may have been committed all the same, and no node would look for them again. */
  let doubtful: readonly Cells[] = []

  /**
   * Takes calls by the id of the dead node. Calls that this node took back since, under its new id, no longer match.
   */
  async function take(gone: string): Promise<readonly Cells[]> {
    let rows: readonly Cells[] = []
    try {
      await database.commitBeside(async (session) => {
        await lease.demand(session)
        rows = await queries.adopt.all(session, { gone, node_id: lease.nodeId, limit: maxAtOnce })
      })
    } catch (error) {
      doubtful = rows
      throw error
    }
    return rows
  }

  async function takenInDoubt(): Promise<readonly Cells[]> {
    if (doubtful.length === 0) return []
    const own = await database.commitBeside(async (session) => {
      await lease.demand(session)
      return queries.own.all(session, { node_id: lease.nodeId })
    })
    const calls = new Set(own.map(({ call_sid }) => call_sid))
    const taken = doubtful.filter(({ call_sid }) => calls.has(call_sid))
    doubtful = []
    return taken
  }

  return {
    async adopt() {
      for (const row of await takenInDoubt()) adopted.set(String(row['call_sid']), callOf(row))
      const [gone] = await queries.abandoned.all(database.reader, {})
      const rows = gone === undefined ? [] : await take(String(gone['node_id']))
      for (const row of rows) adopted.set(String(row['call_sid']), callOf(row))
      // They are removed before they are read, so that of two concurrent callers only one gets them.
      const taken = [...adopted]
      adopted.clear()
      try {
        const calls: UnfinishedCall[] = []
        for (const [call_sid, call] of taken) {
          const cells = await queries.journal.all(database.reader, { call_sid })
          calls.push({ ...call, events: cells.flatMap(({ events }) => parseEvents(events)) })
        }
        return calls
      } catch (error) {
        for (const [call_sid, call] of taken) adopted.set(call_sid, call)
        throw error
      }
    },
  }
}

function callOf({ call_sid, account_sid, alive_at }: Cells): Omit<UnfinishedCall, 'events'> {
  const call = { call_sid: String(call_sid), account_sid: String(account_sid) }
  return typeof alive_at === 'number' ? { ...call, alive_at } : call
}

function createQueries({ builder: db, rowLocks }: Database) {
  const abandoned = db
    .selectFrom('open_calls')
    .select('call_sid')
    .where('node_id', '=', slot('gone'))
    .limit(slot('limit'))
  return {
    abandoned: prepare(
      db
        .selectFrom('open_calls')
        .select('node_id')
        .where('node_id', 'not in', (eb) => eb.selectFrom('nodes').select('nodes.node_id'))
        .limit(1),
    ),
    // The subquery comes first and is run once, so that exactly the locked rows are adopted.
    adopt: prepare(
      db
        .with('abandoned', () => rowLocks?.skip(abandoned) ?? abandoned)
        .updateTable('open_calls')
        .set({ node_id: slot('node_id') })
        .where('call_sid', 'in', (eb) => eb.selectFrom('abandoned').select('abandoned.call_sid'))
        .returning(['call_sid', 'account_sid', 'alive_at']),
    ),
    own: prepare(db.selectFrom('open_calls').select('call_sid').where('node_id', '=', slot('node_id'))),
    journal: prepare(selectEvents(db)),
  }
}
