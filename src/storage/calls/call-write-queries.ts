// The statements of the call writer.
import type { Kysely } from 'kysely'
import { prepare, prepareInsert, slot, slots } from '../database/prepared.ts'
import type { Schema } from '../tables.ts'

export function createCallWriteQueries(db: Kysely<Schema>) {
  const call = slot('call_sid')
  return {
    open: prepareInsert(db, 'open_calls', (query) => query.onConflict((conflict) => conflict.doNothing())),
    endUnrecorded: prepareInsert(db, 'unrecorded_calls', (query) =>
      query.onConflict((conflict) => conflict.doNothing()),
    ),
    hasJournal: prepare(
      db.selectFrom('call_journal').select('call_sid').where('call_sid', '=', call).limit(1),
    ),
    close: prepare(db.deleteFrom('open_calls').where('call_sid', '=', call)),
    keepDialog: prepare(
      db
        .updateTable('open_calls')
        .set({ dialog: slot('dialog') })
        .where('call_sid', '=', call),
    ),
    findOpen: prepare(db.selectFrom('open_calls').select('call_sid').where('call_sid', '=', call)),
    findEnd: prepare(
      db
        .selectFrom('recent_calls')
        .select('call_sid')
        .where('call_sid', '=', call)
        .unionAll(db.selectFrom('unrecorded_calls').select('call_sid').where('call_sid', '=', call)),
    ),
    lastSequence: prepare(
      db.selectNoFrom((eb) => [
        eb
          .selectFrom('outbox')
          .select((inner) => inner.fn.max('sequence').as('last'))
          .where('call_sid', '=', call)
          .as('waiting'),
        eb
          .selectFrom('delivery_log')
          .select((inner) => inner.fn.max('sequence').as('last'))
          .where('call_sid', '=', call)
          .as('settled'),
      ]),
    ),
    lastId: prepare(
      db.selectNoFrom((eb) => [
        eb
          .selectFrom('outbox')
          .select((inner) => inner.fn.max('id').as('id'))
          .as('waiting'),
        eb
          .selectFrom('delivery_log')
          .select((inner) => inner.fn.max('id').as('id'))
          .as('settled'),
      ]),
    ),
    journal: prepareInsert(db, 'call_journal', (query) =>
      query.onConflict((conflict) => conflict.doNothing()).returning('first_seq'),
    ),
    // Due immediately, unless an earlier one of the same call and URL waits: settling that one then makes it due.
    enqueue: prepare(
      db.insertInto('outbox').values((eb) => ({
        ...slots(['id', 'account_sid', 'call_sid', 'sequence', 'payload', 'created_at']),
        ...slots(['url', 'destination', 'method', 'username', 'password']),
        attempts: 0,
        due_at: eb
          .case()
          .when(
            eb.exists(
              eb
                .selectFrom('outbox')
                .select('id')
                .where('call_sid', '=', call)
                .where('url', '=', slot('url')),
            ),
          )
          .then(null)
          .else(eb.cast<number>(eb.val(slot('created_at')), 'bigint'))
          .end(),
      })),
    ),
  }
}
