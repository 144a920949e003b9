// The statements of registrations.ts.
import type { Kysely } from 'kysely'
import { prepare, slot } from '../database/prepared.ts'
import type { Schema } from '../tables.ts'

/** The columns of a registration that are written and loaded, with their types. */
const facts = {
  contact: 'text',
  instance: 'text',
  q: 'text',
  path: 'text',
  transport: 'text',
  address: 'text',
  port: 'bigint',
  call_id: 'text',
  cseq: 'bigint',
  place: 'text',
  user_agent: 'text',
  expires_at: 'bigint',
  updated_at: 'bigint',
} as const
const factNames = Object.keys(facts) as readonly (keyof typeof facts)[]

/** The key of a row: one for each registration. All other columns are overwritten. */
const identity = ['node', 'aor', 'key'] as const
const overwritten = ['account_sid', 'client_sid', 'username', 'realm', ...factNames] as const

export function createRegistrationQueries(db: Kysely<Schema>) {
  const own = db.deleteFrom('registrations')
  const live = toLive(db)
  return {
    save: prepare(toSave(db)),
    remove: prepare(
      own.where('node', '=', slot('node')).where('aor', '=', slot('aor')).where('key', '=', slot('key')),
    ),
    removeUser: prepare(own.where('aor', '=', slot('aor'))),
    removeRealm: prepare(own.where('realm', '=', slot('realm'))),
    // The account must still have the realm, and the client its name: either may belong to another by now.
    load: prepare(live.where('r.node', '=', slot('node'))),
    elsewhereAt: prepare(live.where('r.node', '!=', slot('node')).where('r.place', '=', slot('place'))),
    elsewhere: prepare(
      live.where('r.node', '!=', slot('node')).where('r.aor', '=', slot('aor')).where('r.path', '!=', '[]'),
    ),
  }
}

function toLive(db: Kysely<Schema>) {
  return db
    .selectFrom('registrations as r')
    .innerJoin('accounts as a', (join) =>
      join.onRef('a.account_sid', '=', 'r.account_sid').onRef('a.sip_realm', '=', 'r.realm'),
    )
    .leftJoin('clients as c', 'c.client_sid', 'r.client_sid')
    .select((['aor', 'key', ...factNames] as const).map((column) => `r.${column}` as const))
    .where('r.expires_at', '>', slot('now'))
    .where('a.is_active', '=', 1)
    .where((eb) =>
      eb.or([
        eb('r.client_sid', 'is', null),
        eb.and([eb('c.is_active', '=', 1), eb(eb.ref('c.username'), '=', eb.ref('r.username'))]),
      ]),
    )
    .orderBy('r.updated_at', 'desc')
}

/** Inserts the registration for the account that has the realm. Without such an account nothing is written. */
function toSave(db: Kysely<Schema>) {
  return db
    .insertInto('registrations')
    .columns([...identity, ...overwritten])
    .expression(
      db
        .selectFrom('accounts as a')
        .leftJoin('clients as c', (join) =>
          join.onRef('c.account_sid', '=', 'a.account_sid').on('c.username', '=', slot('username')),
        )
        .select((eb) => {
          const given = (name: string, type: 'text' | 'bigint') =>
            eb.cast<string | number>(eb.val(slot(name)), type).as(name)
          return [
            ...identity.map((name) => given(name, 'text')),
            'a.account_sid',
            'c.client_sid',
            given('username', 'text'),
            given('realm', 'text'),
            ...factNames.map((name) => given(name, facts[name])),
          ]
        })
        .where('a.sip_realm', '=', slot('realm')),
    )
    .onConflict((conflict) =>
      conflict
        .columns(identity)
        .doUpdateSet((eb) =>
          Object.fromEntries(overwritten.map((column) => [column, eb.ref(`excluded.${column}`)])),
        ),
    )
}
