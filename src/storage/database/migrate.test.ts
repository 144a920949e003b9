import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Kysely } from 'kysely'
import { systemTenancy } from '../../contracts/caller.ts'
import { systemClock } from '../../lib/clock.ts'
import { createLogger, silentLogger } from '../../lib/log.ts'
import { StartError } from '../../lib/start-error.ts'
import { createTestDatabase, type TestDatabase } from '../../../test/support/postgres-databases.ts'
import { isMissing } from '../../../test/support/tools.ts'
import { createCallRecords } from '../calls/call-records.ts'
import type { Cells, Database } from './database.ts'
import { migrate, migrations } from './migrate.ts'
import { openPostgres } from '../postgres/postgres.ts'
import { prepare } from './prepared.ts'
import { openSqlite } from '../sqlite/sqlite.ts'
import type { Schema } from '../tables.ts'
import { endedCall } from '../../../test/support/ended-calls.ts'

interface Place {
  open(using: (db: Kysely<Schema>) => Promise<void>): Promise<Database>
  columnsOf(database: Database, table: string): Promise<string[]>
  remove(): Promise<void>
}

async function sqlitePlace(): Promise<Place> {
  const dataDir = await mkdtemp(join(tmpdir(), 'switchhook-migrate-'))
  return {
    open: (using) =>
      openSqlite({ path: join(dataDir, 'test.db'), clock: systemClock, log: silentLogger, migrate: using }),
    columnsOf: (database, table) =>
      names(database.reader.all('select name from pragma_table_info(?)', [table])),
    remove: () => rm(dataDir, { recursive: true }),
  }
}

const postgresPlace = async (): Promise<Place> => placeOn(await createTestDatabase())

function placeOn(made: TestDatabase): Place {
  return {
    open: (using) => openPostgres({ url: made.url, clock: systemClock, log: silentLogger, migrate: using }),
    columnsOf: (database, table) =>
      names(
        database.reader.all(
          'select column_name as name from information_schema.columns where table_name = $1',
          [table],
        ),
      ),
    remove: () => made.remove(),
  }
}

const names = async (rows: Promise<Cells[]>): Promise<string[]> =>
  (await rows).map(({ name }) => String(name)).sort()

async function addRecord(database: Database, facts: Parameters<typeof endedCall>[1]): Promise<void> {
  const { record } = endedCall({ account_sid: 'a', service_provider_sid: 'p' }, facts)
  const row = {
    ...record,
    answered: record.answered ? 1 : 0,
    attempts: null,
    stir_shaken: null,
    failure: null,
    media_failure: null,
  } as const
  const insert = prepare(database.builder.insertInto('recent_calls').values(row))
  await database.commit((session) => insert.all(session, {}))
}

let place: Place
afterEach(() => place.remove())

describe.each([
  { store: 'SQLite', isMissing: false, makePlace: sqlitePlace },
  { store: 'PostgreSQL', isMissing: isMissing('postgres'), makePlace: postgresPlace },
])('the migrations, on $store', ({ isMissing: isSkipped, makePlace }) => {
  describe.skipIf(isSkipped)('when they run', () => {
    beforeEach(async () => {
      place = await makePlace()
    })

    it('run once: a second start changes nothing', async () => {
      await (await place.open(migrate)).close()
      const database = await place.open(migrate)
      const applied = await database.reader.all('select name from kysely_migration', [])
      expect(applied.map(({ name }) => name)).toEqual(Object.keys(migrations))
      await database.close()
    })

    it('are refused with a cure by a database of the time before the first release', async () => {
      const older = { '0001-first-call': migrations['0001-initial']! }
      await (await place.open((db) => migrate(db, older))).close()
      const refused = place.open(migrate)
      await expect(refused).rejects.toThrow(StartError)
      await expect(refused).rejects.toThrow(/from before its first release.*SWITCHHOOK_DATABASE_URL/s)
    })

    it('are refused with a cure by a database that another build has made, which lacks columns and tables', async () => {
      const smaller = async (db: Kysely<Schema>): Promise<void> => {
        await migrate(db)
        await db.schema.dropTable('outdial_usage').execute()
        await db.schema.alterTable('clients').dropColumn('allow_direct_queue_calling').execute()
      }
      await (await place.open(smaller)).close()
      const refused = place.open(migrate)
      await expect(refused).rejects.toThrow(StartError)
      await expect(refused).rejects.toThrow(
        /another build .*lacks clients\.allow_direct_queue_calling, outdial_usage\..*SWITCHHOOK_DATABASE_URL/s,
      )
    })

    it('are refused with a cure by a database of a newer version', async () => {
      const newer = { ...migrations, '9999-later': { up: () => Promise.resolve() } }
      await (await place.open((db) => migrate(db, newer))).close()
      await expect(place.open(migrate)).rejects.toThrow(/newer version of Switchhook \(it has 9999-later\)/)
    })

    it('that fail leave the database as it was, and the next start runs them again', async () => {
      const failing = {
        ...migrations,
        '9999-half': {
          async up(db: Kysely<unknown>) {
            await db.schema.createTable('half').addColumn('a', 'text').execute()
            throw new Error('power of two expected')
          },
        },
      }
      await expect(place.open((db) => migrate(db, failing))).rejects.toThrow(/left as it was/)
      const database = await place.open(migrate)
      expect(await place.columnsOf(database, 'half')).toEqual([])
      expect(await place.columnsOf(database, 'clients')).not.toEqual([])
      await database.close()
    })
  })
})

describe.skipIf(isMissing('postgres'))('the columns of every table', () => {
  it('are the same on both stores, so that the row types made from one are those of the other', async () => {
    place = await sqlitePlace()
    const embedded = await place.open(migrate)
    const expected = await embedded.reader.all(
      `select tables.name || '.' || columns.name as column, lower(columns.type) as type, columns."notnull" as required
       from sqlite_schema as tables, pragma_table_info(tables.name) as columns where tables.type = 'table'`,
      [],
    )
    await embedded.close()
    await place.remove()
    place = await postgresPlace()
    const shared = await place.open(migrate)
    const found = await shared.reader.all(
      `select table_name || '.' || column_name as column, data_type as type,
         case is_nullable when 'NO' then 1 else 0 end as required
       from information_schema.columns where table_schema = 'public'`,
      [],
    )
    await shared.close()
    const own = (rows: Cells[]): Cells[] =>
      rows
        .filter(({ column }) => !String(column).startsWith('kysely_'))
        .sort((a, b) => (String(a['column']) < String(b['column']) ? -1 : 1))
    expect(own(found)).toEqual(own(expected))
    expect(own(found).length).toBeGreaterThan(300)
  })
})

describe.skipIf(isMissing('postgres'))('an address of mail on PostgreSQL', () => {
  it('is found by an index, in any case of its letters', async () => {
    const made = await createTestDatabase()
    place = placeOn(made)
    await (await place.open(migrate)).close()
    await made.query(
      `insert into users (user_sid, name, email, created_at)
       select n, n, 'User' || n || '@example.com', 1 from generate_series(1, 20000) as n`,
    )
    await made.query('analyze users')
    const where = "where lower(email) = lower('uSER77@EXAMPLE.com')"
    expect(await made.query(`select name from users ${where}`)).toEqual([{ name: '77' }])
    const plan = JSON.stringify(
      await made.query(`explain select * from users ${where} order by created_at limit 2`),
    )
    expect(plan).toContain('users_by_email')
    expect(plan).not.toContain('Seq Scan')
  })
})

describe.skipIf(isMissing('postgres'))('a user of PostgreSQL with few rights', () => {
  let made: TestDatabase
  let user: string
  let warnings: string[]
  const log = createLogger('warn', {
    write: (line) => warnings.push((JSON.parse(line) as { readonly msg: string }).msg),
  })
  const open = (): Promise<Database> =>
    openPostgres({ url: made.url.replace('postgres@', `${user}@`), clock: systemClock, log, migrate })

  beforeEach(async () => {
    warnings = []
    made = await createTestDatabase()
    user = `u_${made.name}`
    const remove = async (): Promise<void> => {
      await made.query(`drop owned by ${user}; drop role ${user}`)
      await made.remove()
    }
    place = { ...placeOn(made), remove }
    await made.query(`create role ${user} login`)
  })

  it('reads in the start error which right to ask for', async () => {
    await made.query('revoke create on schema public from public')
    const refused = open()
    await expect(refused).rejects.toThrow(StartError)
    await expect(refused).rejects.toThrow(`GRANT CREATE ON SCHEMA public TO ${user}`)
    await made.query(`grant create on schema public to ${user}`)
    await (await open()).close()
    // The user had needed this right to create the tables.
    await made.query(`revoke create on schema public from ${user}`)
    await (await open()).close()
  })

  it('finds parts of numbers without the right to pg_trgm, which the log names once, and by index when it is there', async () => {
    await made.query(`grant usage, create on schema public to ${user}`)
    const database = await open()
    expect(warnings).toEqual([expect.stringContaining('CREATE EXTENSION pg_trgm')])
    await addRecord(database, { attempted_at: 1, from: '+4930123456' })
    const recentCalls = createCallRecords(database, systemClock).recentCalls(database)
    const page = await recentCalls.page(systemTenancy, 'a', { page: 1, count: 10, filter: '30123' })
    expect(page.rows.map(({ from }) => from)).toEqual(['+4930123456'])
    await database.close()
    const indexes = (): Promise<Record<string, unknown>[]> =>
      made.query("select indexname from pg_indexes where indexname = 'recent_calls_by_number'")
    expect(await indexes()).toEqual([])
    warnings = []
    await made.query('create extension pg_trgm')
    await (await open()).close()
    expect(await indexes()).toHaveLength(1)
    expect(warnings).toEqual([])
  })
})

describe('lists', () => {
  beforeEach(async () => {
    place = await sqlitePlace()
  })

  it.each([
    [
      'select * from recent_calls where account_sid = ? order by attempted_at desc, call_sid desc limit 25',
      1,
    ],
    ['select count(*) from recent_calls where account_sid = ? and answered = 1 and attempted_at > 5', 1],
    ['select * from applications where service_provider_sid = ? and account_sid = ?', 2],
    ['select * from clients where account_sid = ? and username = ?', 2],
    ...['applications', 'clients'].flatMap((table): [string, number][] => {
      const key = `${table.slice(0, -1)}_sid`
      const rest = `${key} > ? order by ${key} limit 512`
      return [
        [`select * from ${table} where service_provider_sid = ? and account_sid = ? and ${rest}`, 3],
        [`select * from ${table} where service_provider_sid = ? and ${rest}`, 2],
        [`select * from ${table} where ${rest}`, 1],
      ]
    }),
    ['select * from api_keys where token_hash = ?', 1],
    ['select * from users where lower(email) = lower(?)', 1],
    ['select * from accounts where sip_realm = ?', 1],
    ['select * from phone_numbers where number = ?', 1],
    ['select * from phone_numbers where voip_carrier_sid = ? and is_pattern = ?', 2],
    ['select * from outbox where due_at <= ? order by due_at, id limit 64', 1],
  ])('are read by an index, without sorting: %s', async (sql, slots) => {
    const database = await place.open(migrate)
    const plan = await database.reader.all(
      `explain query plan ${sql}`,
      Array.from({ length: slots }, () => 'x'),
    )
    const steps = plan.map(({ detail }) => String(detail))
    expect(steps).toHaveLength(1)
    expect(steps[0]).toMatch(/^SEARCH .* USING (COVERING )?INDEX/)
    await database.close()
  })
})
