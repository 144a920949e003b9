// Notifications that wait for delivery: leased in order per call and URL, settled into the delivery log. They survive
// a restart, because a lease is only a due time in the future.
import type { Kysely } from 'kysely'
import type { OutboxItem, OutboxStore, Settlement } from '../contracts/outbox.ts'
import type { Clock } from '../lib/clock.ts'
import type { Database, RowLocks, Session } from './database/database.ts'
import {
  createPreparedCache,
  prepare,
  prepareInsert,
  rowSlot,
  slot,
  type Values,
} from './database/prepared.ts'
import type { Vault } from './secrets.ts'
import type { Schema } from './tables.ts'

export interface OutboxOptions {
  readonly database: Database
  readonly vault: Vault
  readonly clock: Clock
  readonly onEnqueued: (listener: () => void) => void
}

export function createOutbox({ database, vault, clock, onEnqueued }: OutboxOptions): OutboxStore {
  const queries = createQueries(database)

  function itemOf(row: Schema['outbox']): OutboxItem {
    const { id, account_sid, call_sid, sequence, payload, attempts, created_at } = row
    const place = { table: 'outbox', row: String(id), column: 'password' }
    const password = row.password === null ? null : vault.unseal(row.password, place)
    const { url, destination, method, username } = row
    const hook = { url, method, username, password }
    return { id, account_sid, call_sid, sequence, hook, destination, payload, attempts, created_at }
  }

  /** With concurrent transactions, locks everything that settling changes, in the same order as the call writer. */
  async function lock(session: Session, results: readonly Settlement[]): Promise<void> {
    const ids = results.map(({ id }) => id)
    await queries.lock?.(slotsFor(ids.length)).all(session, numbered('id', ids))
  }

  async function settleOne(session: Session, result: Settlement): Promise<void> {
    const { id } = result
    if (result.outcome === 'retry') {
      await queries.retry.all(session, { id, due_at: result.at })
      return
    }
    if (result.outcome === 'put-back') {
      await queries.putBack.all(session, { id, due_at: result.at })
      return
    }
    const [removed] = await queries.remove.all(session, { id })
    // The item was settled already, by a worker whose lease had run out before this one's began.
    if (removed === undefined) return
    const { account_sid, call_sid, sequence, url, attempts, created_at } =
      removed as unknown as Schema['outbox']
    await queries.log(session, {
      id,
      account_sid,
      call_sid,
      sequence,
      url,
      outcome: result.outcome,
      status: result.outcome === 'delivered' ? result.status : null,
      attempts: attempts + 1,
      duration_ms: result.outcome === 'delivered' ? Math.round(result.durationMs) : null,
      error: result.outcome === 'abandoned' ? result.error : null,
      created_at,
      settled_at: clock.now(),
    })
    await queries.release.all(session, { call_sid, url, due_at: clock.now() })
  }

  async function settle(results: readonly Settlement[]): Promise<void> {
    if (results.length === 0) return
    // No sync is awaited. If a crash loses this, the notification is delivered once more, with the same id.
    await database.commitBeside(async (session) => {
      await lock(session, results)
      for (const result of results) await settleOne(session, result)
    })
  }

  return {
    async claim(limit, leaseMs, { accounts, lanes } = { accounts: [], lanes: [] }) {
      const now = clock.now()
      const values = {
        ...{ now, limit, leased_until: now + leaseMs },
        ...numbered('except', accounts),
        ...numbered(
          'of',
          lanes.map((lane) => lane.account_sid),
        ),
        ...numbered(
          'to',
          lanes.map((lane) => lane.destination),
        ),
      }
      const rows = await database.commitBeside((session) =>
        queries.claim(slotsFor(accounts.length), slotsFor(lanes.length)).all(session, values),
      )
      // A lease need not reach the disk: if it is lost, the item is due again, and delivery is at least once anyway.
      const items: OutboxItem[] = []
      const unreadable: Settlement[] = []
      for (const row of rows as unknown as Schema['outbox'][]) {
        try {
          items.push(itemOf(row))
        } catch {
          // It would hold up the items that are claimed with it again and again.
          unreadable.push({ id: row.id, outcome: 'abandoned', error: 'its password cannot be decrypted' })
        }
      }
      await settle(unreadable)
      return items.sort((a, b) => a.created_at - b.created_at || a.id - b.id)
    },
    settle,
    onEnqueued,
    async nextDueAt() {
      const [row] = await queries.next.all(database.reader, {})
      const due = row?.['due_at']
      return due === null || due === undefined ? undefined : Number(due)
    },
  }
}

/** Returns the number of slots for a list. Lists are padded to few lengths, so that few statements are prepared. */
function slotsFor(length: number): number {
  return length === 0 ? 0 : 2 ** Math.ceil(Math.log2(length))
}

/** Returns the values of a list's slots. The last value is repeated in the slots that are left over. */
function numbered(name: string, values: readonly (string | number)[]): Values {
  const slots = Array.from({ length: slotsFor(values.length) }, (_, index): [string, string | number] => [
    `${name}_${index}`,
    values[index] ?? values.at(-1) ?? '',
  ])
  return Object.fromEntries(slots)
}

function numberedSlots(name: string, count: number): never[] {
  return Array.from({ length: count }, (_, index) => slot(`${name}_${index}`))
}

type Db = Pick<Database, 'builder' | 'rowLocks'>

/** Returns the claim. The subquery comes first and is run once, so that exactly the locked rows are claimed. */
function claimQuery({ builder, rowLocks }: Db, accounts: number, lanes: number) {
  let due = builder
    .selectFrom('outbox')
    .select('id')
    .where('due_at', '<=', slot('now'))
    .orderBy('due_at')
    .orderBy('id')
    .limit(rowSlot('limit'))
  if (accounts > 0) due = due.where('account_sid', 'not in', numberedSlots('except', accounts))
  for (let index = 0; index < lanes; index += 1)
    due = due.where((eb) =>
      eb.or([eb('account_sid', '<>', slot(`of_${index}`)), eb('destination', '<>', slot(`to_${index}`))]),
    )
  return builder
    .with('due', () => rowLocks?.skip(due) ?? due)
    .updateTable('outbox')
    .set({ due_at: slot('leased_until') })
    .where('id', 'in', (eb) => eb.selectFrom('due').select('due.id'))
    .returningAll()
}

/** Locks the items themselves, and the items that settling them makes due. */
function lockQuery(db: Kysely<Schema>, locks: RowLocks, count: number) {
  const ids = numberedSlots('id', count)
  return locks.wait(
    db
      .selectFrom('outbox')
      .select('id')
      .where((eb) =>
        eb.or([
          eb('id', 'in', ids),
          eb(
            'id',
            'in',
            eb
              .selectFrom('outbox as next')
              .select((inner) => inner.fn.min('next.id').as('id'))
              .where('next.id', 'not in', ids)
              .where((inner) =>
                inner.exists(
                  inner
                    .selectFrom('outbox as settled')
                    .select('settled.id')
                    .where('settled.id', 'in', ids)
                    .whereRef('settled.call_sid', '=', 'next.call_sid')
                    .whereRef('settled.url', '=', 'next.url'),
                ),
              )
              .groupBy(['next.call_sid', 'next.url']),
          ),
        ]),
      )
      .orderBy('id'),
  )
}

function createQueries(database: Db) {
  const { builder: db, rowLocks } = database
  const once = createPreparedCache()
  return {
    claim: (accounts: number, lanes: number) =>
      once(`claim ${accounts} ${lanes}`, () => claimQuery(database, accounts, lanes)),
    lock: rowLocks && ((count: number) => once(`lock ${count}`, () => lockQuery(db, rowLocks, count))),
    retry: prepare(
      db
        .updateTable('outbox')
        .set((eb) => ({ due_at: slot('due_at'), attempts: eb('attempts', '+', 1) }))
        .where('id', '=', slot('id')),
    ),
    putBack: prepare(
      db
        .updateTable('outbox')
        .set({ due_at: slot('due_at') })
        .where('id', '=', slot('id')),
    ),
    remove: prepare(db.deleteFrom('outbox').where('id', '=', slot('id')).returningAll()),
    log: prepareInsert(db, 'delivery_log', (query) => query.onConflict((conflict) => conflict.doNothing())),
    /** Makes the next notification of the call for the same URL due when the one before it is settled. */
    release: prepare(
      db
        .updateTable('outbox')
        .set({ due_at: slot('due_at') })
        .where('id', '=', (eb) =>
          eb
            .selectFrom('outbox as next')
            .select((inner) => inner.fn.min('next.id').as('id'))
            .where('next.call_sid', '=', slot('call_sid'))
            .where('next.url', '=', slot('url')),
        ),
    ),
    next: prepare(db.selectFrom('outbox').select((eb) => eb.fn.min('due_at').as('due_at'))),
  }
}
