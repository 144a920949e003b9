// Notifications on their way: leased in order per call, settled into the delivery log. Survives a restart, because
// a lease is only a due time that lies ahead.
import type { Kysely } from 'kysely'
import type { OutboxItem, OutboxStore, Settlement } from '../contracts/outbox.ts'
import type { Clock } from '../lib/clock.ts'
import type { Cells, Database, RowLocks, Session } from './database/database.ts'
import { prepare, rowSlot, slot } from './database/prepared.ts'
import type { Prepared, Values } from './database/prepared.ts'
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

  function itemOf(row: Cells): OutboxItem {
    const id = Number(row['id'])
    const text = (column: string): string => String(row[column])
    const optional = (column: string): string | null => (row[column] === null ? null : text(column))
    const sealed = optional('password')
    const place = { table: 'outbox', row: String(id), column: 'password' }
    return {
      id,
      account_sid: text('account_sid'),
      call_sid: text('call_sid'),
      sequence: Number(row['sequence']),
      hook: {
        url: text('url'),
        method: text('method') === 'GET' ? 'GET' : 'POST',
        username: optional('username'),
        password: sealed === null ? null : vault.unseal(sealed, place),
      },
      payload: text('payload'),
      attempts: Number(row['attempts']),
      created_at: Number(row['created_at']),
    }
  }

  /** Beside other transactions: everything that settling changes, in the order in which the call writer locks too. */
  async function lock(session: Session, results: readonly Settlement[]): Promise<void> {
    const ids = numbered(
      'id',
      results.map(({ id }) => id),
    )
    await queries.lock?.(slotsFor(results.length)).all(session, ids)
  }

  async function settleOne(session: Session, result: Settlement): Promise<void> {
    const { id } = result
    if (result.outcome === 'retry') {
      await queries.retry.all(session, { id, due_at: result.at })
      return
    }
    const [row] = await queries.remove.all(session, { id })
    // Settled already, by a worker whose lease had run out before this one's.
    if (row === undefined) return
    await queries.log.all(session, {
      id,
      account_sid: row['account_sid'],
      call_sid: row['call_sid'],
      sequence: row['sequence'],
      url: row['url'],
      outcome: result.outcome,
      status: result.outcome === 'delivered' ? result.status : null,
      attempts: Number(row['attempts']) + 1,
      duration_ms: result.outcome === 'delivered' ? Math.round(result.durationMs) : null,
      error: result.outcome === 'abandoned' ? result.error : null,
      created_at: row['created_at'],
      settled_at: clock.now(),
    })
    await queries.release.all(session, { call_sid: row['call_sid'], due_at: clock.now() })
  }

  return {
    async claim(limit, leaseMs, except = []) {
      const now = clock.now()
      const values = { now, limit, leased_until: now + leaseMs, ...numbered('except', except) }
      const rows = await database.commitBeside((session) =>
        queries.claim(slotsFor(except.length)).all(session, values),
      )
      // A lease need not reach the disk: one that is lost makes the item due again, and delivery is at least once.
      return rows.map(itemOf).sort((a, b) => a.created_at - b.created_at || a.id - b.id)
    },
    async settle(results) {
      if (results.length === 0) return
      // No sync is awaited: should the machine lose this, the notification is delivered once more, with the same id.
      await database.commitBeside(async (session) => {
        await lock(session, results)
        for (const result of results) await settleOne(session, result)
      })
    },
    onEnqueued,
    async nextDueAt() {
      const [row] = await queries.next.all(database.reader, {})
      const due = row?.['due_at']
      return due === null || due === undefined ? undefined : Number(due)
    },
  }
}

/** Lists come in few lengths, so that few statements are prepared. */
function slotsFor(length: number): number {
  return length === 0 ? 0 : 2 ** Math.ceil(Math.log2(length))
}

/** The values of a list's slots; the last one stands in those that are left. */
function numbered(name: string, values: readonly (string | number)[]): Values {
  const slots = Array.from({ length: slotsFor(values.length) }, (_, index): [string, string | number] => [
    `${name}_${index}`,
    values[index] ?? values.at(-1) ?? '',
  ])
  return Object.fromEntries(slots)
}

function slots(name: string, count: number): never[] {
  return Array.from({ length: count }, (_, index) => slot(`${name}_${index}`))
}

function perLength(make: (length: number) => Prepared): (length: number) => Prepared {
  const made = new Map<number, Prepared>()
  return (length) => {
    const known = made.get(length) ?? make(length)
    made.set(length, known)
    return known
  }
}

type Db = Pick<Database, 'builder' | 'rowLocks'>

/** The subquery stands in front, where it is run once: what is locked is what is claimed. */
function claimQuery({ builder, rowLocks }: Db, except: number): Prepared {
  let due = builder
    .selectFrom('outbox')
    .select('id')
    .where('due_at', '<=', slot('now'))
    .orderBy('due_at')
    .orderBy('id')
    .limit(rowSlot('limit'))
  if (except > 0) due = due.where('account_sid', 'not in', slots('except', except))
  return prepare(
    builder
      .with('due', () => rowLocks?.skip(due) ?? due)
      .updateTable('outbox')
      .set({ due_at: slot('leased_until') })
      .where('id', 'in', (eb) => eb.selectFrom('due').select('due.id'))
      .returningAll(),
  )
}

/** The items themselves, and the ones that settling them makes due. */
function lockQuery(db: Kysely<Schema>, locks: RowLocks, count: number): Prepared {
  const ids = slots('id', count)
  return prepare(
    locks.wait(
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
                .where('next.call_sid', 'in', (inner) =>
                  inner
                    .selectFrom('outbox as settled')
                    .select('settled.call_sid')
                    .where('settled.id', 'in', ids),
                )
                .groupBy('next.call_sid'),
            ),
          ]),
        )
        .orderBy('id'),
    ),
  )
}

function createQueries(database: Db) {
  const { builder: db, rowLocks } = database
  return {
    claim: perLength((except) => claimQuery(database, except)),
    lock: rowLocks === undefined ? undefined : perLength((count) => lockQuery(db, rowLocks, count)),
    retry: prepare(
      db
        .updateTable('outbox')
        .set((eb) => ({ due_at: slot('due_at'), attempts: eb('attempts', '+', 1) }))
        .where('id', '=', slot('id')),
    ),
    remove: prepare(db.deleteFrom('outbox').where('id', '=', slot('id')).returningAll()),
    log: prepare(
      db
        .insertInto('delivery_log')
        .values({
          id: slot('id'),
          account_sid: slot('account_sid'),
          call_sid: slot('call_sid'),
          sequence: slot('sequence'),
          url: slot('url'),
          outcome: slot('outcome'),
          status: slot('status'),
          attempts: slot('attempts'),
          duration_ms: slot('duration_ms'),
          error: slot('error'),
          created_at: slot('created_at'),
          settled_at: slot('settled_at'),
        })
        .onConflict((conflict) => conflict.doNothing()),
    ),
    /** The next one of the call is due as soon as the one before it is settled. */
    release: prepare(
      db
        .updateTable('outbox')
        .set({ due_at: slot('due_at') })
        .where('id', '=', (eb) =>
          eb
            .selectFrom('outbox as next')
            .select((inner) => inner.fn.min('next.id').as('id'))
            .where('next.call_sid', '=', slot('call_sid')),
        ),
    ),
    next: prepare(db.selectFrom('outbox').select((eb) => eb.fn.min('due_at').as('due_at'))),
  }
}
