// The statements of registrations.ts.
import type { Kysely } from 'kysely'
import { prepare, slot } from '../database/prepared.ts'
import type { Schema } from '../tables.ts'

const written = [
  'account_sid',
  'client_sid',
  'username',
  'realm',
  'contact',
  'instance',
  'q',
  'path',
  'transport',
  'address',
  'port',
  'call_id',
  'cseq',
  'user_agent',
  'expires_at',
  'updated_at',
] as const

const kept = [
  'aor',
  'key',
  'contact',
  'instance',
  'q',
  'path',
  'transport',
  'address',
  'port',
  'call_id',
  'cseq',
  'user_agent',
  'expires_at',
] as const

export function createRegistrationQueries(db: Kysely<Schema>) {
  const own = db.deleteFrom('registrations')
  return {
    save: prepare(toSave(db)),
    remove: prepare(
      own.where('node', '=', slot('node')).where('aor', '=', slot('aor')).where('key', '=', slot('key')),
    ),
    removeUser: prepare(own.where('aor', '=', slot('aor'))),
    removeRealm: prepare(own.where('realm', '=', slot('realm'))),
    // The account that registered it must still have the realm, and the client the name: either may be another's by now.
    load: prepare(
      db
        .selectFrom('registrations as r')
        .innerJoin('accounts as a', (join) =>
          join.onRef('a.account_sid', '=', 'r.account_sid').onRef('a.sip_realm', '=', 'r.realm'),
        )
        .leftJoin('clients as c', 'c.client_sid', 'r.client_sid')
        .select(kept.map((column) => `r.${column}` as const))
        .where('r.node', '=', slot('node'))
        .where('r.expires_at', '>', slot('now'))
        .where('a.is_active', '=', 1)
        .where((eb) =>
          eb.or([
            eb('r.client_sid', 'is', null),
            eb.and([eb('c.is_active', '=', 1), eb(eb.ref('c.username'), '=', eb.ref('r.username'))]),
          ]),
        )
        .orderBy('r.updated_at', 'desc'),
    ),
  }
}

/** The account is that of the realm; without one nothing is written. */
function toSave(db: Kysely<Schema>) {
  return db
    .insertInto('registrations')
    .columns(['node', 'aor', 'key', ...written])
    .expression(
      db
        .selectFrom('accounts as a')
        .leftJoin('clients as c', (join) =>
          join.onRef('c.account_sid', '=', 'a.account_sid').on('c.username', '=', slot('username')),
        )
        .select((eb) => {
          const text = (name: string) => eb.cast<string>(eb.val(slot(name)), 'text').as(name)
          const whole = (name: string) => eb.cast<number>(eb.val(slot(name)), 'bigint').as(name)
          return [
            ...['node', 'aor', 'key'].map(text),
            'a.account_sid',
            'c.client_sid',
            ...['username', 'realm', 'contact', 'instance', 'q', 'path', 'transport', 'address'].map(text),
            whole('port'),
            text('call_id'),
            whole('cseq'),
            text('user_agent'),
            whole('expires_at'),
            whole('updated_at'),
          ]
        })
        .where('a.sip_realm', '=', slot('realm')),
    )
    .onConflict((conflict) =>
      conflict
        .columns(['node', 'aor', 'key'])
        .doUpdateSet((eb) =>
          Object.fromEntries(written.map((column) => [column, eb.ref(`excluded.${column}`)])),
        ),
    )
}
