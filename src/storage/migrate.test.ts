import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Kysely } from 'kysely'
import { systemTenancy } from '../lib/caller.ts'
import { systemClock } from '../lib/clock.ts'
import { createSid } from '../lib/ids.ts'
import { silentLogger } from '../lib/log.ts'
import { createTestDatabase } from '../../test/support/databases.ts'
import type { TestDatabase } from '../../test/support/databases.ts'
import { isMissing } from '../../test/support/tools.ts'
import { createCallRecords } from './call-records.ts'
import type { Cells, Database } from './database.ts'
import { migrate, migrations } from './migrate.ts'
import { openPostgres } from './postgres.ts'
import { prepare } from './prepared.ts'
import { openSqlite } from './sqlite.ts'
import type { RecentCallRow, Schema } from './tables.ts'
import { endedCall } from './test-calls.ts'
import type { EndedCall } from './test-calls.ts'

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
      names(
        database.reader.all('select name from pragma_table_info(?) where name <> ?', [
          table,
          rowIdOf[table] ?? '',
        ]),
      ),
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

/** What only the embedded database has, for itself. */
const rowIdOf: Readonly<Record<string, string>> = { recent_calls: 'id' }

const names = async (rows: Promise<Cells[]>): Promise<string[]> =>
  (await rows).map(({ name }) => String(name)).sort()

/** Copies of one record under ids of their own. */
function recordsOf({ record: { answered, ...record } }: EndedCall, count: number): RecentCallRow[] {
  return Array.from({ length: count }, () => ({
    ...record,
    answered: answered ? 1 : 0,
    call_sid: createSid(),
  }))
}

async function addRecords(
  database: Database,
  count: number,
  facts: Parameters<typeof endedCall>[1],
): Promise<void> {
  const call = endedCall({ account_sid: 'a', service_provider_sid: 'p' }, facts)
  const insert = prepare(database.builder.insertInto('recent_calls').values(recordsOf(call, count)))
  await database.commit((session) => insert.all(session, {}))
}

/** Those of a version that did not know this one: they run in the order of their names. */
const migrationsBefore = (first: string): typeof migrations =>
  Object.fromEntries(Object.entries(migrations).filter(([name]) => name < first))

let place: Place
afterEach(() => place.remove())

/** Does not compile when a column of a row type is missing or too many. */
const columns: { readonly [T in keyof Schema]: { readonly [C in keyof Schema[T]]: 0 } } = {
  service_providers: {
    service_provider_sid: 0,
    name: 0,
    description: 0,
    root_domain: 0,
    ms_teams_fqdn: 0,
    registration_hook_sid: 0,
    created_at: 0,
    version: 0,
  },
  accounts: {
    account_sid: 0,
    service_provider_sid: 0,
    name: 0,
    sip_realm: 0,
    registration_hook_sid: 0,
    queue_event_hook_sid: 0,
    device_calling_application_sid: 0,
    siprec_hook_sid: 0,
    is_active: 0,
    plan_type: 0,
    webhook_secret: 0,
    disable_cdrs: 0,
    ringing_after_ms: 0,
    sensitive_digits: 0,
    record_all_calls: 0,
    record_format: 0,
    bucket_credential: 0,
    enable_debug_log: 0,
    device_to_call_ratio: 0,
    trial_end_date: 0,
    deactivated_reason: 0,
    created_at: 0,
    version: 0,
  },
  webhooks: {
    webhook_sid: 0,
    account_sid: 0,
    service_provider_sid: 0,
    url: 0,
    method: 0,
    username: 0,
    password: 0,
    created_at: 0,
    version: 0,
  },
  applications: {
    application_sid: 0,
    account_sid: 0,
    service_provider_sid: 0,
    name: 0,
    call_hook_sid: 0,
    call_status_hook_sid: 0,
    messaging_hook_sid: 0,
    app_json: 0,
    speech_synthesis_vendor: 0,
    speech_synthesis_language: 0,
    speech_synthesis_voice: 0,
    speech_synthesis_label: 0,
    speech_recognizer_vendor: 0,
    speech_recognizer_language: 0,
    speech_recognizer_label: 0,
    use_for_fallback_speech: 0,
    fallback_speech_synthesis_vendor: 0,
    fallback_speech_synthesis_language: 0,
    fallback_speech_synthesis_voice: 0,
    fallback_speech_synthesis_label: 0,
    fallback_speech_recognizer_vendor: 0,
    fallback_speech_recognizer_language: 0,
    fallback_speech_recognizer_label: 0,
    record_all_calls: 0,
    env_vars: 0,
    created_at: 0,
    version: 0,
  },
  clients: {
    client_sid: 0,
    account_sid: 0,
    service_provider_sid: 0,
    username: 0,
    password: 0,
    is_active: 0,
    allow_direct_app_calling: 0,
    allow_direct_queue_calling: 0,
    allow_direct_user_calling: 0,
    created_at: 0,
    version: 0,
  },
  api_keys: {
    api_key_sid: 0,
    account_sid: 0,
    service_provider_sid: 0,
    token_hash: 0,
    token_prefix: 0,
    expires_at: 0,
    last_used: 0,
    created_at: 0,
    version: 0,
  },
  users: {
    user_sid: 0,
    account_sid: 0,
    service_provider_sid: 0,
    name: 0,
    email: 0,
    pending_email: 0,
    phone: 0,
    hashed_password: 0,
    provider: 0,
    provider_userid: 0,
    permissions: 0,
    is_active: 0,
    force_change: 0,
    email_validated: 0,
    phone_validated: 0,
    email_content_opt_out: 0,
    created_at: 0,
    version: 0,
  },
  user_sessions: { user_session_sid: 0, user_sid: 0, expires_at: 0, created_at: 0, version: 0 },
  password_settings: {
    password_settings_sid: 0,
    min_password_length: 0,
    require_digit: 0,
    require_special_character: 0,
    created_at: 0,
    version: 0,
  },
  settings: { name: 0, value: 0, created_at: 0, version: 0 },
  recent_calls: {
    call_sid: 0,
    account_sid: 0,
    service_provider_sid: 0,
    application_sid: 0,
    sip_call_id: 0,
    sip_parent_call_id: 0,
    from: 0,
    to: 0,
    direction: 0,
    answered: 0,
    sip_status: 0,
    duration: 0,
    attempted_at: 0,
    answered_at: 0,
    terminated_at: 0,
    termination_reason: 0,
    host: 0,
    remote_host: 0,
    trunk: 0,
    trace_id: 0,
  },
  recent_call_counts: {
    owner_sid: 0,
    span_ms: 0,
    starts_at: 0,
    service_provider_sid: 0,
    inbound_answered: 0,
    inbound_unanswered: 0,
    outbound_answered: 0,
    outbound_unanswered: 0,
  },
  recent_call_counts_by_trunk: {
    owner_sid: 0,
    trunk: 0,
    span_ms: 0,
    starts_at: 0,
    service_provider_sid: 0,
    inbound_answered: 0,
    inbound_unanswered: 0,
    outbound_answered: 0,
    outbound_unanswered: 0,
  },
  call_journal: { call_sid: 0, first_seq: 0, account_sid: 0, events: 0, created_at: 0 },
  registrations: {
    node: 0,
    aor: 0,
    key: 0,
    account_sid: 0,
    client_sid: 0,
    username: 0,
    realm: 0,
    contact: 0,
    instance: 0,
    q: 0,
    path: 0,
    transport: 0,
    address: 0,
    port: 0,
    call_id: 0,
    cseq: 0,
    user_agent: 0,
    expires_at: 0,
    updated_at: 0,
  },
  open_calls: { call_sid: 0, account_sid: 0, created_at: 0, node_id: 0 },
  nodes: { node_id: 0, place: 0, beats: 0 },
  unrecorded_calls: { call_sid: 0, ended_at: 0 },
  outbox: {
    id: 0,
    account_sid: 0,
    call_sid: 0,
    sequence: 0,
    url: 0,
    method: 0,
    username: 0,
    password: 0,
    payload: 0,
    attempts: 0,
    due_at: 0,
    created_at: 0,
  },
  audit_log: {
    seq: 0,
    at: 0,
    actor_kind: 0,
    actor_sid: 0,
    actor_name: 0,
    address: 0,
    request_id: 0,
    service_provider_sid: 0,
    account_sid: 0,
    action: 0,
    resource: 0,
    sid: 0,
    before: 0,
    after: 0,
    previous_hash: 0,
    hash: 0,
  },
  audit_head: { id: 0, seq: 0, hash: 0, seal: 0 },
  idempotency_keys: {
    principal: 0,
    key: 0,
    route: 0,
    fingerprint: 0,
    status: 0,
    response: 0,
    created_at: 0,
    expires_at: 0,
  },
  delivery_log: {
    id: 0,
    account_sid: 0,
    call_sid: 0,
    sequence: 0,
    url: 0,
    outcome: 0,
    status: 0,
    attempts: 0,
    duration_ms: 0,
    error: 0,
    created_at: 0,
    settled_at: 0,
  },
  speech_credentials: {
    speech_credential_sid: 0,
    account_sid: 0,
    service_provider_sid: 0,
    vendor: 0,
    label: 0,
    settings: 0,
    use_for_tts: 0,
    use_for_stt: 0,
    last_used: 0,
    last_tested: 0,
    tts_tested_ok: 0,
    stt_tested_ok: 0,
    created_at: 0,
    version: 0,
  },
  google_custom_voices: {
    google_custom_voice_sid: 0,
    account_sid: 0,
    service_provider_sid: 0,
    speech_credential_sid: 0,
    name: 0,
    model: 0,
    reported_usage: 0,
    voice_cloning_key: 0,
    use_voice_cloning_key: 0,
    created_at: 0,
    version: 0,
  },
  limits: {
    limit_sid: 0,
    account_sid: 0,
    service_provider_sid: 0,
    category: 0,
    quantity: 0,
    created_at: 0,
    version: 0,
  },
  password_resets: {
    password_reset_sid: 0,
    user_sid: 0,
    link_hash: 0,
    expires_at: 0,
    signed_in_at: 0,
    created_at: 0,
    version: 0,
  },
  password_reset_requests: {
    password_reset_request_sid: 0,
    email: 0,
    attempts: 0,
    due_at: 0,
    created_at: 0,
    version: 0,
  },
  carrier_hosts: {
    carrier_host_sid: 0,
    account_sid: 0,
    host: 0,
    called_at: 0,
    created_at: 0,
    version: 0,
  },
  sbc_addresses: {
    sbc_address_sid: 0,
    service_provider_sid: 0,
    ipv4: 0,
    port: 0,
    tls_port: 0,
    wss_port: 0,
    last_updated: 0,
    created_at: 0,
    version: 0,
  },
  smpp_addresses: {
    smpp_address_sid: 0,
    service_provider_sid: 0,
    ipv4: 0,
    port: 0,
    use_tls: 0,
    is_primary: 0,
    created_at: 0,
    version: 0,
  },
  system_information: {
    system_information_sid: 0,
    domain_name: 0,
    sip_domain_name: 0,
    monitoring_domain_name: 0,
    private_network_cidr: 0,
    log_level: 0,
    created_at: 0,
    version: 0,
  },
  alerts: {
    alert_sid: 0,
    account_sid: 0,
    service_provider_sid: 0,
    alert_type: 0,
    message: 0,
    detail: 0,
    vendor: 0,
    call_sid: 0,
    time: 0,
  },
  voip_carriers: {
    voip_carrier_sid: 0,
    name: 0,
    description: 0,
    application_sid: 0,
    e164_leading_plus: 0,
    requires_register: 0,
    register_username: 0,
    register_sip_realm: 0,
    register_password: 0,
    register_from_user: 0,
    register_from_domain: 0,
    register_public_ip_in_contact: 0,
    register_status: 0,
    tech_prefix: 0,
    inbound_auth_username: 0,
    inbound_auth_password: 0,
    diversion: 0,
    is_active: 0,
    smpp_system_id: 0,
    smpp_password: 0,
    smpp_inbound_system_id: 0,
    smpp_inbound_password: 0,
    smpp_enquire_link_interval: 0,
    dtmf_type: 0,
    outbound_sip_proxy: 0,
    trunk_type: 0,
    account_sid: 0,
    service_provider_sid: 0,
    created_at: 0,
    version: 0,
  },
  sip_gateways: {
    sip_gateway_sid: 0,
    voip_carrier_sid: 0,
    ipv4: 0,
    port: 0,
    netmask: 0,
    inbound: 0,
    outbound: 0,
    is_active: 0,
    protocol: 0,
    pad_crypto: 0,
    send_options_ping: 0,
    use_sips_scheme: 0,
    remove_ice: 0,
    dtls_off: 0,
    account_sid: 0,
    service_provider_sid: 0,
    created_at: 0,
    version: 0,
  },
  smpp_gateways: {
    smpp_gateway_sid: 0,
    voip_carrier_sid: 0,
    ipv4: 0,
    port: 0,
    netmask: 0,
    is_primary: 0,
    inbound: 0,
    outbound: 0,
    use_tls: 0,
    account_sid: 0,
    service_provider_sid: 0,
    created_at: 0,
    version: 0,
  },
  phone_numbers: {
    phone_number_sid: 0,
    number: 0,
    received_number: 0,
    e164_number: 0,
    is_pattern: 0,
    voip_carrier_sid: 0,
    application_sid: 0,
    account_sid: 0,
    service_provider_sid: 0,
    created_at: 0,
    version: 0,
  },
  ms_teams_tenants: {
    ms_teams_tenant_sid: 0,
    application_sid: 0,
    tenant_fqdn: 0,
    account_sid: 0,
    service_provider_sid: 0,
    created_at: 0,
    version: 0,
  },
  lcrs: {
    lcr_sid: 0,
    name: 0,
    is_active: 0,
    default_carrier_set_entry_sid: 0,
    account_sid: 0,
    service_provider_sid: 0,
    created_at: 0,
    version: 0,
  },
  lcr_routes: {
    lcr_route_sid: 0,
    lcr_sid: 0,
    regex: 0,
    description: 0,
    priority: 0,
    account_sid: 0,
    service_provider_sid: 0,
    created_at: 0,
    version: 0,
  },
  lcr_carrier_set_entries: {
    lcr_carrier_set_entry_sid: 0,
    lcr_route_sid: 0,
    voip_carrier_sid: 0,
    workload: 0,
    priority: 0,
    account_sid: 0,
    service_provider_sid: 0,
    created_at: 0,
    version: 0,
  },
}

describe.each([
  { store: 'SQLite', isMissing: false, makePlace: sqlitePlace },
  { store: 'PostgreSQL', isMissing: isMissing('postgres'), makePlace: postgresPlace },
])('the migrations, on $store', ({ isMissing: isSkipped, makePlace }) => {
  describe.skipIf(isSkipped)('when they run', () => {
    beforeEach(async () => {
      place = await makePlace()
    })

    it('make exactly the columns of the row types', async () => {
      const database = await place.open(migrate)
      for (const [table, expected] of Object.entries(columns))
        expect(await place.columnsOf(database, table), table).toEqual(Object.keys(expected).sort())
      await database.close()
    })

    it('run once: a second start changes nothing', async () => {
      await (await place.open(migrate)).close()
      const database = await place.open(migrate)
      const applied = await database.reader.all('select name from kysely_migration', [])
      expect(applied.map(({ name }) => name)).toEqual(Object.keys(migrations))
      await database.close()
    })

    it.each([
      { before: '0006-call-counts', table: 'recent_call_counts', by: {} },
      { before: '0009-call-filters', table: 'recent_call_counts_by_trunk', by: { trunk: 'user' } },
    ])('count the calls that were there before $before', async ({ before, table, by }) => {
      const database = await place.open((db) => migrate(db, migrationsBefore(before)))
      await addRecords(database, 3, { attempted_at: 3_600_001 })
      await database.close()
      const later = await place.open(migrate)
      const counts = await later.reader.all(
        `select * from ${table} order by owner_sid, span_ms, starts_at`,
        [],
      )
      const none = { inbound_unanswered: 0, outbound_answered: 0, outbound_unanswered: 0 }
      const three = { ...by, service_provider_sid: 'p', inbound_answered: 3, ...none }
      expect(counts).toEqual(
        ['a', 'p'].flatMap((owner_sid) => [
          { owner_sid, span_ms: 3_600_000, starts_at: 3_600_000, ...three },
          { owner_sid, span_ms: 86_400_000, starts_at: 0, ...three },
        ]),
      )
      await later.close()
    })

    it('keep the calls that were there before their numbers were indexed, and find them by these', async () => {
      const before = await place.open((db) => migrate(db, migrationsBefore('0009-call-filters')))
      await addRecords(before, 2, { attempted_at: 3_600_001, from: 'alice', application_sid: 'app' })
      const read = async (database: Database): Promise<Cells[]> => {
        const rows = await database.reader.all('select * from recent_calls order by call_sid', [])
        return rows.map(({ id: _ours, ...row }) => row)
      }
      const records = await read(before)
      await before.close()
      const database = await place.open(migrate)
      expect(await read(database)).toEqual(records)
      const calls = createCallRecords(database, systemClock)
      const found = (filter: string) =>
        calls.recentCalls.page(systemTenancy, 'a', { page: 1, count: 10, filter }).then(({ total }) => total)
      expect(await found('lic')).toBe(2)
      expect(await found('nobody')).toBe(0)
      expect(await calls.prune(3_600_002, 1)).toBe(1)
      expect(await found('lic')).toBe(1)
      // The same call twice is one record still.
      const [kept] = await read(database)
      const again = prepare(
        database.builder
          .insertInto('recent_calls')
          .values(kept as unknown as RecentCallRow)
          .onConflict((conflict) => conflict.column('call_sid').doNothing()),
      )
      await database.commit((session) => again.all(session, {}))
      expect(await found('lic')).toBe(1)
      await database.close()
    })

    it('tell the patterns among the phone numbers of an older version', async () => {
      const before = await place.open((db) => migrate(db, migrationsBefore('0007-number-patterns')))
      const numbers = ['1555*', '15551230100', '^1(2|3)', '*', 'alice', '0']
      await before.commit(async (session) => {
        for (const number of numbers)
          await session.all(
            `insert into phone_numbers (phone_number_sid, number, received_number, created_at)
             values ('${number}', '${number}', '${number}', 1)`,
            [],
          )
      })
      await before.close()
      const database = await place.open(migrate)
      const found = names(
        database.reader.all('select number as name from phone_numbers where is_pattern = 1', []),
      )
      expect(await found).toEqual(['*', '1555*', '^1(2|3)', 'alice'])
      await database.close()
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

describe.skipIf(isMissing('postgres'))('a user of PostgreSQL who may not create extensions', () => {
  it('is told what to ask for, and can start when it is there', async () => {
    const made = await createTestDatabase()
    place = placeOn(made)
    const user = `u_${made.name}`
    await made.query(`create role ${user} login; grant usage, create on schema public to ${user}`)
    const url = made.url.replace('postgres@', `${user}@`)
    const open = () => openPostgres({ url, clock: systemClock, log: silentLogger, migrate })
    await expect(open()).rejects.toThrow(/CREATE EXTENSION pg_trgm/)
    expect(await made.query("select tablename from pg_tables where schemaname = 'public'")).toEqual([])
    await made.query('create extension pg_trgm')
    await (await open()).close()
    await made.query(`drop owned by ${user}; drop role ${user}`)
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
