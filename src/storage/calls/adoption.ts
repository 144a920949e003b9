// Adoption of the calls that a dead node has left open: each call by one node only.
import type { UnfinishedCall } from '../../contracts/call-record.ts'
import type { Logger } from '../../lib/log.ts'
import type { Cells, Database } from '../database/database.ts'
import type { NodeLease } from '../nodes/node-lease.ts'
import { prepare, slot } from '../database/prepared.ts'
import type { Vault } from '../secrets.ts'
import { dialogPlace } from './call-writer.ts'
import { parseEvents, selectEvents } from './journal-events.ts'

export interface Adoption {
  adopt(): Promise<readonly UnfinishedCall[]>
}

export interface AdoptionOptions {
  readonly database: Database
  readonly lease: Pick<NodeLease, 'nodeId' | 'demand'>
  readonly vault: Pick<Vault, 'unseal'>
  readonly log: Pick<Logger, 'warn'>
}

// Bounds the memory: one journal has up to 1 MB.
const maxAtOnce = 16

export function createAdoption({ database, lease, vault, log }: AdoptionOptions): Adoption {
  const queries = createQueries(database)
  /**
   * The calls that a failed transaction may have taken, and those that were taken but could not be read. No other node
   * looks for them unless this one is declared dead.
   */
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
      doubtful = [...doubtful, ...rows]
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
      let rows = await takenInDoubt()
      try {
        const [gone] = await queries.abandoned.all(database.reader, {})
        if (gone !== undefined) rows = [...rows, ...(await take(String(gone['node_id'])))]
        const calls: UnfinishedCall[] = []
        for (const row of rows) {
          const call = callOf(row, { vault, log })
          const cells = await queries.journal.all(database.reader, { call_sid: call.call_sid })
          calls.push({ ...call, events: cells.flatMap(({ events }) => parseEvents(events)) })
        }
        return calls
      } catch (error) {
        doubtful = [...doubtful, ...rows]
        throw error
      }
    },
  }
}

function callOf(
  { call_sid, account_sid, alive_at, dialog }: Cells,
  options: Pick<AdoptionOptions, 'vault' | 'log'>,
): Omit<UnfinishedCall, 'events'> {
  const call = { call_sid: String(call_sid), account_sid: String(account_sid) }
  const readable = typeof dialog === 'string' ? dialogOf(call, dialog, options) : undefined
  return {
    ...call,
    ...(typeof alive_at === 'number' ? { alive_at } : {}),
    ...(readable === undefined ? {} : { dialog: readable }),
  }
}

/** A dialog that cannot be decrypted is left out: its call is closed without a BYE, and holds up no other. */
function dialogOf(
  { call_sid, account_sid }: Pick<UnfinishedCall, 'call_sid' | 'account_sid'>,
  sealed: string,
  { vault, log }: Pick<AdoptionOptions, 'vault' | 'log'>,
): string | undefined {
  try {
    return vault.unseal(sealed, dialogPlace(call_sid))
  } catch (error) {
    log.warn(
      { err: error, call_sid, account_sid },
      'the dialog of a call cannot be decrypted: it gets no BYE',
    )
    return undefined
  }
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
        .returning(['call_sid', 'account_sid', 'alive_at', 'dialog']),
    ),
    own: prepare(db.selectFrom('open_calls').select('call_sid').where('node_id', '=', slot('node_id'))),
    journal: prepare(selectEvents(db)),
  }
}
