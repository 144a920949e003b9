// The statements of the call writer.
import type { Kysely } from 'kysely'
import { prepare, slot } from '../database/prepared.ts'
import type { Schema } from '../tables.ts'

export function createCallWriteQueries(db: Kysely<Schema>) {
  const call = slot('call_sid')
  return {
    open: prepare(
      db
        .insertInto('open_calls')
        .values({
          call_sid: call,
          account_sid: slot('account_sid'),
          created_at: slot('created_at'),
          node_id: slot('node_id'),
        })
        .onConflict((conflict) => conflict.doNothing()),
    ),
    endUnrecorded: prepare(
      db
        .insertInto('unrecorded_calls')
        .values({ call_sid: call, ended_at: slot('ended_at') })
        .onConflict((conflict) => conflict.doNothing()),
    ),
    hasJournal: prepare(
      db.selectFrom('call_journal').select('call_sid').where('call_sid', '=', call).limit(1),
    ),
    close: prepare(db.deleteFrom('open_calls').where('call_sid', '=', call)),
    findOpen: prepare(db.selectFrom('open_calls').select('call_sid').where('call_sid', '=', call)),
    findRecord: prepare(db.selectFrom('recent_calls').select('call_sid').where('call_sid', '=', call)),
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
    journal: prepare(
      db
        .insertInto('call_journal')
        .values({
          call_sid: call,
          first_seq: slot('first_seq'),
          account_sid: slot('account_sid'),
          events: slot('events'),
          created_at: slot('created_at'),
        })
        .onConflict((conflict) => conflict.doNothing())
        .returning('first_seq'),
    ),
    // Due at once, unless an earlier one of the same call still waits: then settling that one makes it due.
    enqueue: prepare(
      db.insertInto('outbox').values((eb) => ({
        id: slot('id'),
        account_sid: slot('account_sid'),
        call_sid: call,
        sequence: slot('sequence'),
        url: slot('url'),
        method: slot('method'),
        username: slot('username'),
        password: slot('password'),
        payload: slot('payload'),
        attempts: 0,
        due_at: eb
          .case()
          .when(eb.exists(eb.selectFrom('outbox').select('id').where('call_sid', '=', call)))
          .then(null)
          .else(eb.cast<number>(eb.val(slot('created_at')), 'bigint'))
          .end(),
        created_at: slot('created_at'),
      })),
    ),
  }
}
