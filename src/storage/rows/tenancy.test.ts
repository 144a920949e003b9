// The second line of defence: every table in the descriptors is tested, without a new line here.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemTenancy, type Tenancy } from '../../contracts/caller.ts'
import { AppError } from '../../lib/errors.ts'
import { createSid } from '../../lib/ids.ts'
import { descriptorOf, descriptors, isAtLeast } from './descriptors.ts'
import type { Repository, TableName } from './rows.ts'
import {
  makeAccount,
  onEachStore,
  type TestAccount,
  type TestStorage,
} from '../../../test/support/each-store.ts'

const tables = Object.keys(descriptors) as TableName[]
type AnyRow = Record<string, unknown>
type AnyRepository = Repository<'webhooks'>

onEachStore(({ open: openTestStorage }) => {
  let test: TestStorage
  let own: TestAccount
  let sibling: TestAccount
  let foreign: TestAccount

  beforeAll(async () => {
    test = await openTestStorage()
    own = await makeAccount(test.storage)
    sibling = await makeAccount(test.storage, own.service_provider_sid)
    foreign = await makeAccount(test.storage)
  })
  afterAll(() => test.close())

  let counter = 0

  /** Returns a row with the columns that the table requires besides its owner. */
  async function sample(table: TableName, owner: TestAccount): Promise<AnyRow> {
    const n = ++counter
    const rows: Record<TableName, () => AnyRow | Promise<AnyRow>> = {
      service_providers: () => ({ name: `sample ${n}` }),
      accounts: () => ({ name: 'sample', webhook_secret: 's' }),
      webhooks: () => ({ url: 'https://example.com/', password: 'hidden' }),
      applications: () => ({ name: `sample ${n}`, env_vars: '{}' }),
      clients: () => ({ username: `sample${n}`, password: 'hidden' }),
      api_keys: () => ({ token_hash: `hash ${n}`, token_prefix: 'abc' }),
      users: () => ({ name: `sample ${n}`, email: `s${n}@example.com` }),
      user_sessions: async () => {
        const user = await insert('users', owner)
        return { user_sid: user, expires_at: 1 }
      },
      password_settings: () => ({}),
      settings: () => ({ name: `sample ${n}`, value: 'hidden' }),
      call_defences: () => ({ kill_switch: 'off' }),
      limits: () => ({ category: `sample ${n}`, quantity: 1 }),
      password_resets: async () => {
        const user = await insert('users', owner)
        return { user_sid: user, link_hash: `hash ${n}`, expires_at: 1 }
      },
      password_reset_requests: () => ({ email: `s${n}@example.com`, due_at: 1 }),
      carrier_hosts: async () => ({
        account_sid: await insert('accounts', owner),
        host: `h${n}.example.com`,
        called_at: 1,
      }),
      sbc_addresses: () => ({ ipv4: '192.0.2.1' }),
      smpp_addresses: () => ({ ipv4: '192.0.2.1' }),
      system_information: () => ({ system_information_sid: `sample ${n}` }),
      voip_carriers: () => ({ name: 'sample', register_password: 'hidden' }),
      sip_gateways: async () => ({
        voip_carrier_sid: await insert('voip_carriers', owner),
        ipv4: '192.0.2.1',
      }),
      smpp_gateways: async () => ({
        voip_carrier_sid: await insert('voip_carriers', owner),
        ipv4: '192.0.2.1',
      }),
      speech_credentials: () => ({ vendor: 'deepgram', label: `sample ${n}`, settings: '{}' }),
      google_custom_voices: async () => ({
        speech_credential_sid: await insert('speech_credentials', owner),
        name: 'sample',
        model: 'sample',
      }),
      phone_numbers: () => ({ number: `${n}`, received_number: `${n}` }),
      ms_teams_tenants: () => ({ tenant_fqdn: `t${n}.example.com` }),
      lcrs: async () => {
        // An account has only one LCR.
        const { account_sid } = owner
        const lcrs = test.storage.for(systemTenancy).lcrs
        for (const { lcr_sid } of await lcrs.list({ where: { account_sid } })) await lcrs.remove(lcr_sid)
        return { name: 'sample' }
      },
      lcr_routes: async () => ({ lcr_sid: await insert('lcrs', owner), regex: '.*', priority: n }),
      lcr_carrier_set_entries: async () => ({
        lcr_route_sid: await insert('lcr_routes', owner),
        voip_carrier_sid: await insert('voip_carriers', owner),
      }),
    }
    return rows[table]()
  }

  function repository(table: TableName, tenancy: Tenancy): AnyRepository {
    return test.storage.for(tenancy)[table] as unknown as AnyRepository
  }

  /** Returns the owner columns that a caller may set on a row of this table. */
  function ownerColumns(table: TableName, { account_sid, service_provider_sid }: TestAccount): AnyRow {
    const { owner, key } = descriptorOf(table)
    const columns: AnyRow = {}
    if (owner.includes('service_provider_sid') && key !== 'service_provider_sid')
      columns['service_provider_sid'] = service_provider_sid
    if (owner.includes('account_sid') && key !== 'account_sid') columns['account_sid'] = account_sid
    return columns
  }

  async function insert(table: TableName, owner: TestAccount): Promise<string> {
    const row = await repository(table, systemTenancy).insert({
      ...(await sample(table, owner)),
      ...ownerColumns(table, owner),
    })
    return String((row as unknown as AnyRow)[descriptorOf(table).key])
  }

  /** Returns a row of a foreign owner: its own row for the tables of tenants, a new one for the others. */
  async function rowOf(table: TableName, owner: TestAccount): Promise<string> {
    if (table === 'accounts') return owner.account_sid
    if (table === 'service_providers') return owner.service_provider_sid
    return insert(table, owner)
  }

  /** In a table of providers, all accounts of a provider may read what one of them may. */
  const hasAccounts = (table: TableName): boolean =>
    table === 'accounts' || descriptorOf(table).owner.includes('account_sid')

  const isOwned = (table: TableName): boolean => descriptorOf(table).owner.length > 0

  /** Tenancies that must not reach a row of the given owner. */
  const strangers = (): {
    name: string
    tenancy: Tenancy
    owner: TestAccount
    sees: 'nothing' | 'provider'
  }[] => [
    { name: 'an account, of another provider', tenancy: own.asAccount, owner: foreign, sees: 'nothing' },
    { name: 'an account, of a sibling', tenancy: own.asAccount, owner: sibling, sees: 'provider' },
    { name: 'a provider, of another', tenancy: own.asProvider, owner: foreign, sees: 'nothing' },
  ]

  const pairs = tables.flatMap((table) => [0, 1, 2].map((index) => ({ table, index })))

  describe.each(pairs)('rows of $table, stranger $index', ({ table, index }) => {
    const isHidden = (sees: string): boolean =>
      isOwned(table) ? sees !== 'provider' || hasAccounts(table) : false

    it('are neither found nor listed nor counted', async () => {
      const { tenancy, owner, sees } = strangers()[index]!
      const { key, minLevel } = descriptorOf(table)
      if (!isHidden(sees) && isAtLeast(tenancy.level, minLevel.read)) return
      const sid = await rowOf(table, owner)
      const stranger = repository(table, tenancy)
      expect(await stranger.find(sid)).toBeUndefined()
      expect(await stranger.findMany([sid, sid])).toEqual([])
      const listed = (await stranger.list()) as unknown as AnyRow[]
      expect(listed.map((row) => row[key])).not.toContain(sid)
      expect(await stranger.list({ where: { [key]: sid } })).toEqual([])
      expect(await stranger.count({ where: { [key]: sid } })).toBe(0)
    })

    it('are neither changed nor removed', async () => {
      const { tenancy, owner } = strangers()[index]!
      const sid = await rowOf(table, owner)
      const before = await repository(table, systemTenancy).find(sid)
      expect(before).toBeDefined()
      const stranger = repository(table, tenancy)
      const change = await sample(table, own)
      delete change[descriptorOf(table).key]
      delete change['user_sid']
      const outcomes = [
        await refused(() => stranger.update(sid, change)),
        await refused(() => stranger.remove(sid)),
      ]
      // The only row that two tenancies share is the provider's own, and an account may only read it.
      expect(outcomes).toEqual([true, true])
      expect(await repository(table, systemTenancy).find(sid)).toEqual(before)
    })

    it('cannot be inserted', async () => {
      const { tenancy, owner } = strangers()[index]!
      const stranger = repository(table, tenancy)
      const before = await repository(table, systemTenancy).count()
      const row = { ...(await sample(table, owner)), ...ownerColumns(table, owner) }
      const grown = (await repository(table, systemTenancy).count()) - before
      await expect(stranger.insert(row)).rejects.toMatchObject({ code: 'not_permitted' })
      expect(await repository(table, systemTenancy).count()).toBe(before + grown)
    })
  })

  describe.each(
    tables.filter((table) => descriptorOf(table).minLevel.update === 'account' && table !== 'accounts'),
  )('own rows of %s', (table) => {
    it('cannot be given away, nor lifted to a higher level', async () => {
      const sid = await insert(table, own)
      const mine = repository(table, own.asAccount)
      for (const target of [
        ownerColumns(table, sibling),
        ownerColumns(table, foreign),
        { account_sid: null },
        { service_provider_sid: null },
      ])
        await expect(mine.update(sid, target)).rejects.toMatchObject({ code: 'not_permitted' })
      const provider = repository(table, own.asProvider)
      for (const target of [
        ownerColumns(table, foreign),
        { account_sid: foreign.account_sid },
        { service_provider_sid: null },
      ])
        await expect(provider.update(sid, target)).rejects.toMatchObject({ code: 'not_permitted' })
      const kept = (await repository(table, systemTenancy).find(sid)) as unknown as AnyRow
      expect(kept).toMatchObject(ownerColumns(table, own))
    })

    it('are stamped with the tenancy when the caller names no owner', async () => {
      const row = await repository(table, own.asAccount).insert(await sample(table, own))
      expect(row).toMatchObject(ownerColumns(table, own))
    })

    it('get their provider from their account when an admin names only the account', async () => {
      const row = await repository(table, { level: 'admin' }).insert({
        ...(await sample(table, own)),
        account_sid: own.account_sid,
      })
      expect(row).toMatchObject(ownerColumns(table, own))
    })

    it('are refused when an admin names an account that does not exist or a provider that is not its own', async () => {
      const admin = repository(table, { level: 'admin' })
      for (const owner of [
        { account_sid: createSid() },
        { account_sid: own.account_sid, service_provider_sid: foreign.service_provider_sid },
      ])
        await expect(admin.insert({ ...(await sample(table, own)), ...owner })).rejects.toMatchObject({
          code: 'bad_request',
        })
    })
  })

  describe.each(tables.filter((table) => descriptorOf(table).isShared))(
    'rows of a provider in %s',
    (table) => {
      /** Stores a row of the provider, without an account. */
      async function share(owner: TestAccount): Promise<string> {
        const row = { ...(await sample(table, owner)), ...ownerColumns(table, owner), account_sid: null }
        const stored = await repository(table, systemTenancy).insert(row)
        return String((stored as unknown as AnyRow)[descriptorOf(table).key])
      }

      it('are read by its accounts, and by no others', async () => {
        const { key } = descriptorOf(table)
        const sid = await share(own)
        for (const tenancy of [own.asAccount, sibling.asAccount, own.asProvider]) {
          const reader = repository(table, tenancy)
          expect(await reader.find(sid)).toBeDefined()
          expect(await reader.count({ where: { [key]: sid } })).toBe(1)
        }
        for (const tenancy of [foreign.asAccount, foreign.asProvider])
          expect(await repository(table, tenancy).find(sid)).toBeUndefined()
      })

      it('are changed by the provider alone', async () => {
        const sid = await share(own)
        const change = { created_at: 5, ...(await sample(table, own)) }
        for (const tenancy of [own.asAccount, sibling.asAccount, foreign.asAccount, foreign.asProvider]) {
          const { parent } = descriptorOf(table)
          if (parent !== undefined) delete (change as AnyRow)[parent]
          expect(await refused(() => repository(table, tenancy).update(sid, change))).toBe(true)
          expect(await refused(() => repository(table, tenancy).remove(sid))).toBe(true)
        }
        expect(await repository(table, own.asProvider).remove(sid)).toBe(true)
      })
    },
  )

  describe.each(tables.filter((table) => descriptorOf(table).parent !== undefined))('rows of %s', (table) => {
    it('are not made below a row that their writer only sees', async () => {
      const { parent, references } = descriptorOf(table)
      const target = references.find(({ column }) => column === parent)!.table
      const row = { ...(await sample(target, own)), ...ownerColumns(target, own), account_sid: null }
      if (descriptorOf(target).parent !== undefined) return
      const shared = (await repository(target, systemTenancy).insert(row)) as unknown as AnyRow
      const child = { ...(await sample(table, own)), [parent!]: shared[descriptorOf(target).key] }
      await expect(repository(table, own.asAccount).insert(child)).rejects.toMatchObject({
        code: 'bad_request',
        message: `${parent} names no existing record`,
      })
    })
  })

  describe('references', () => {
    const pointing = tables.flatMap((table) =>
      descriptorOf(table)
        .references.filter(
          ({ table: target }) => isOwned(target) && table !== 'user_sessions' && table !== 'password_resets',
        )
        .map(({ column, table: target }) => ({ table, column, target })),
    )

    it.each(pointing)(
      '$column of $table cannot point at a foreign row of $target',
      async ({ table, column, target }) => {
        const theirs = await insert(target, foreign)
        const mine = await rowOf(table, own)
        const tenancy = table === 'service_providers' ? own.asProvider : own.asAccount
        await expect(repository(table, tenancy).update(mine, { [column]: theirs })).rejects.toMatchObject({
          code: 'bad_request',
          message: `${column} names no existing record`,
        })
      },
    )

    const request = () => ({ principal: 'api_key:1', key: createSid(), route: 'POST /x', fingerprint: 'f' })
    const stranger = { principal: undefined, request_id: 'r', address: '127.0.0.1' }
    const application = (call_hook_sid: string) => ({ name: createSid(), call_hook_sid })

    it('point at a row that was made just before, in the same transaction', async () => {
      const made = await test.storage.transaction(own.asAccount, async (rows) => {
        const { webhook_sid } = await rows.webhooks.insert({ url: 'https://example.com/' })
        return [webhook_sid, await rows.applications.insert(application(webhook_sid))] as const
      })
      expect(made[1].call_hook_sid).toBe(made[0])
    })

    it.each(['asAccount', 'asProvider'] as const)(
      'cannot point at a foreign row that the same transaction has written (%s)',
      async (level) => {
        const work = test.storage.idempotency.once(request(), stranger, async (unit) => {
          const theirs = await unit.for(foreign[level]).webhooks.insert({ url: 'https://example.com/' })
          const { account_sid } = own
          await unit.for(own[level]).applications.insert({ ...application(theirs.webhook_sid), account_sid })
          return { status: 201, body: undefined }
        })
        await expect(work).rejects.toMatchObject({
          code: 'bad_request',
          message: 'call_hook_sid names no existing record',
        })
      },
    )

    it('cannot point at a row of their own that the system has given away in the same transaction', async () => {
      const work = test.storage.idempotency.once(request(), stranger, async (unit) => {
        const { webhook_sid } = await unit.for(own.asAccount).webhooks.insert({ url: 'https://example.com/' })
        const { account_sid, service_provider_sid } = foreign
        await unit.for(systemTenancy).webhooks.update(webhook_sid, { account_sid, service_provider_sid })
        await unit.for(own.asAccount).applications.insert(application(webhook_sid))
        return { status: 201, body: undefined }
      })
      await expect(work).rejects.toMatchObject({
        code: 'bad_request',
        message: 'call_hook_sid names no existing record',
      })
    })

    it('cannot point at a row that was removed in the same transaction', async () => {
      const work = test.storage.transaction(own.asAccount, async (rows) => {
        const { webhook_sid } = await rows.webhooks.insert({ url: 'https://example.com/' })
        await rows.webhooks.remove(webhook_sid)
        await rows.applications.insert(application(webhook_sid))
      })
      await expect(work).rejects.toMatchObject({
        code: 'bad_request',
        message: 'call_hook_sid names no existing record',
      })
    })
  })

  /** Returns true when the action was refused, or found nothing to do. */
  async function refused(action: () => Promise<boolean>): Promise<boolean> {
    try {
      return !(await action())
    } catch (error) {
      if (error instanceof AppError && error.code === 'not_permitted') return true
      throw error
    }
  }
})
