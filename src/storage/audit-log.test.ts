import { createHash } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createTestAsker } from '../../test/support/asker.ts'
import { systemTenancy, type Tenancy } from '../contracts/caller.ts'
import { AppError } from '../lib/errors.ts'
import { createSid } from '../lib/ids.ts'
import { createFakeClock } from '../../test/support/fake-clock.ts'
import { createAuditLog, type AuditQuery } from './audit-log.ts'
import { genesis, hashOf } from './audit-chain.ts'
import type { PageOf } from './database/read-page.ts'
import { createSqliteKind } from './sqlite/sqlite.ts'
import { mask } from './rows/change-set.ts'
import { descriptors } from './rows/descriptors.ts'
import type { Actor } from './rows/rows.ts'
import type { Schema } from './tables.ts'
import {
  makeAccount,
  onEachStore,
  type TestAccount,
  type TestStorage,
} from '../../test/support/each-store.ts'

onEachStore(({ name: store, open }) => {
  let test: TestStorage
  let mine: TestAccount

  beforeEach(async () => {
    test = await open()
    mine = await makeAccount(test.storage)
  })
  afterEach(() => test.close())

  const admin: Tenancy = { level: 'admin' }
  const page = (
    query: Partial<AuditQuery> = {},
    tenancy: Tenancy = admin,
  ): Promise<PageOf<Schema['audit_log']>> =>
    test.storage.audit.page(tenancy, { page: 1, count: 500, ...query })
  const entriesOf = async (sid: string): Promise<readonly Schema['audit_log'][]> => (await page({ sid })).rows
  const actor: Actor = {
    principal: { kind: 'user', user_sid: 'u1', name: 'Ada', session_sid: 's1' },
    request_id: 'r-1',
    address: '192.0.2.7',
  }
  const clients = (by: Actor | undefined = actor) =>
    test.storage.boundTo({ maker: by }).for(mine.asAccount).clients
  const cellsOf = (text: string | null): unknown => (text === null ? null : JSON.parse(text))

  describe('a change', () => {
    it('leaves one entry that says who, from where, in which request, and what', async () => {
      const { client_sid } = await clients().insert({ username: 'alice', password: 'planted-secret-1' })
      const [entry, ...others] = await entriesOf(client_sid)
      expect(others).toEqual([])
      expect(entry).toMatchObject({
        actor_kind: 'user',
        actor_sid: 'u1',
        actor_name: 'Ada',
        address: '192.0.2.7',
        request_id: 'r-1',
        action: 'create',
        resource: 'clients',
        account_sid: mine.account_sid,
        service_provider_sid: mine.service_provider_sid,
        before: null,
      })
      expect(cellsOf(entry!.after)).toMatchObject({ username: 'alice', password: mask, is_active: 1 })
    })

    it('of some columns tells those and no others, as they were and as they are', async () => {
      const { client_sid } = await clients().insert({ username: 'alice', password: 'p' })
      await clients().update(client_sid, { username: 'bob', is_active: 1 })
      const [entry] = await entriesOf(client_sid)
      expect(entry?.action).toBe('update')
      expect([cellsOf(entry!.before), cellsOf(entry!.after)]).toEqual([
        { username: 'alice', version: 1 },
        { username: 'bob', version: 2 },
      ])
    })

    it('of a secret tells that it has changed, not what it is; the same secret again is no change', async () => {
      const { client_sid } = await clients().insert({ username: 'alice', password: 'planted-secret-1' })
      await clients().update(client_sid, { password: 'planted-secret-2' })
      await clients().update(client_sid, { password: 'planted-secret-2' })
      const [again, changed] = await entriesOf(client_sid)
      expect(cellsOf(changed!.after)).toEqual({ password: mask, version: 2 })
      expect(cellsOf(again!.after)).toEqual({ version: 3 })
      expect(await test.contents()).not.toMatch(/planted-secret/)
    })

    it('that removes a record keeps what it was', async () => {
      const { client_sid } = await clients().insert({ username: 'alice', password: 'p' })
      await clients().remove(client_sid)
      const [entry] = await entriesOf(client_sid)
      expect(entry).toMatchObject({ action: 'delete', after: null, account_sid: mine.account_sid })
      expect(cellsOf(entry!.before)).toMatchObject({ username: 'alice', password: mask })
    })

    it('of one record in many steps of a transaction is one entry, and none when nothing remains', async () => {
      const [kept, gone] = [createSid(), createSid()]
      await test.storage.boundTo({ maker: actor }).transaction(mine.asAccount, async (rows) => {
        await rows.clients.insert({ client_sid: kept, username: 'kept', password: 'p' })
        await rows.clients.insert({ client_sid: gone, username: 'gone', password: 'p' })
        await rows.clients.update(kept, { username: 'kept on' })
        await rows.clients.remove(gone)
      })
      expect(await entriesOf(gone)).toEqual([])
      const [entry, ...others] = await entriesOf(kept)
      expect(others).toEqual([])
      expect(entry?.action).toBe('create')
      expect(cellsOf(entry!.after)).toMatchObject({ username: 'kept on' })
    })

    it('that fails leaves no entry', async () => {
      const before = (await page()).total
      const work = test.storage.transaction(mine.asAccount, async (rows) => {
        await rows.clients.insert({ username: 'alice', password: 'p' })
        throw new AppError('bad_request', 'changed my mind')
      })
      await expect(work).rejects.toThrow('changed my mind')
      expect(await clients().update(createSid(), { username: 'unknown' })).toBe(false)
      expect(await clients().remove(createSid())).toBe(false)
      expect((await page()).total).toBe(before)
    })

    it('of the platform says so, and a trace of use is no change', async () => {
      const { api_keys } = test.storage.for(systemTenancy)
      const { api_key_sid } = await api_keys.insert({ token_hash: 'planted-hash', token_prefix: 'abc' })
      await api_keys.update(api_key_sid, { last_used: 1 })
      const [entry, ...others] = await entriesOf(api_key_sid)
      expect(others).toEqual([])
      expect(entry).toMatchObject({ actor_kind: 'platform', actor_sid: null, request_id: null })
      expect(entry!.after).not.toContain('planted-hash')
    })
  })

  describe('what was done outside of the database', () => {
    const removal = { action: 'delete', resource: 'recordings' } as const
    const deed = (sid: string) => {
      const { account_sid, service_provider_sid } = mine
      return { ...removal, sid, account_sid, service_provider_sid }
    }

    it('is an entry of its owner, in the name of its actor', async () => {
      await test.storage.boundTo({ maker: actor }).audit.note(deed('2026/11/21/c1.wav'))
      const [entry, ...others] = await entriesOf('2026/11/21/c1.wav')
      expect(others).toEqual([])
      expect(entry).toMatchObject({
        ...deed('2026/11/21/c1.wav'),
        actor_kind: 'user',
        actor_sid: 'u1',
        address: '192.0.2.7',
        request_id: 'r-1',
        before: null,
        after: null,
      })
      const platforms = { ...removal, sid: '*', account_sid: null, service_provider_sid: null }
      await test.storage.boundTo({ maker: actor }).audit.note(platforms)
      const seen = async (tenancy: Tenancy): Promise<number> =>
        (await page({ resource: 'recordings' }, tenancy)).total
      const other = await makeAccount(test.storage)
      expect(await seen(mine.asAccount)).toBe(1)
      expect(await seen(mine.asProvider)).toBe(1)
      expect(await seen(other.asProvider)).toBe(0)
      expect(await seen(admin)).toBe(2)
    })

    it('stands in the chain among the changes of rows, and is no change of a row itself', async () => {
      const before = test.storage.revision()
      await Promise.all(
        Array.from({ length: 10 }, (_, n) =>
          test.storage.boundTo({ maker: actor }).audit.note(deed(`c${n}`)),
        ),
      )
      expect(test.storage.revision()).toBe(before)
      await Promise.all([
        clients().insert({ username: 'alice', password: 'p' }),
        test.storage.boundTo({ maker: actor }).audit.note(deed('c10')),
      ])
      expect((await page({ resource: 'recordings' })).total).toBe(11)
      expect(await test.storage.audit.verify()).toMatchObject({ isIntact: true, problems: [] })
    })

    it('is refused to a request that only reads', async () => {
      await expect(test.storage.boundTo({ maker: 'reader' }).audit.note(deed('c1'))).rejects.toThrow(
        'only reads',
      )
      expect(await entriesOf('c1')).toEqual([])
    })
  })

  it('masks every column that by its name may hold a secret', async () => {
    // Names, ids, counts and flags that only sound like secrets.
    const harmless =
      /_sid$|^token_prefix$|^min_password_length$|^use_voice_cloning_key$|^private_network_cidr$/
    for (const [table, { secrets = [], hashes = [] }] of Object.entries(descriptors)) {
      const covered: readonly string[] = [...secrets, ...hashes]
      const sounding = (await columnsOf(table)).filter(
        (column) => /pass|secret|token|hash|credential|private|_key$/.test(column) && !harmless.test(column),
      )
      expect(
        sounding.filter((column) => !covered.includes(column)),
        table,
      ).toEqual([])
    }
  })

  const columnsOf = async (table: string): Promise<string[]> => {
    const rows = await test.query(
      store === 'SQLite'
        ? `select name from pragma_table_info('${table}')`
        : `select column_name as name from information_schema.columns where table_name = '${table}'`,
    )
    return rows.map(({ name }) => String(name))
  }

  describe('a page', () => {
    it('shows each tenancy what happened to its own rows, newest first', async () => {
      const other = await makeAccount(test.storage)
      const sibling = await makeAccount(test.storage, mine.service_provider_sid)
      for (const { asAccount } of [mine, sibling, other])
        await test.storage.for(asAccount).clients.insert({ username: 'x', password: 'p' })
      const seen = async (tenancy: Tenancy): Promise<(string | null)[]> =>
        (await page({ resource: 'clients' }, tenancy)).rows.map(({ account_sid }) => account_sid)
      expect(await seen(mine.asAccount)).toEqual([mine.account_sid])
      expect(await seen(mine.asProvider)).toEqual([sibling.account_sid, mine.account_sid])
      expect(await seen(admin)).toEqual([other.account_sid, sibling.account_sid, mine.account_sid])
      expect((await page({ account_sid: other.account_sid }, mine.asAccount)).total).toBe(0)
    })

    it('shows sessions and mailed links to the owner of the user, and only there', async () => {
      const system = test.storage.for(systemTenancy)
      const { account_sid, service_provider_sid } = mine
      const owners = [{ account_sid }, { service_provider_sid }, {}]
      const users = await Promise.all(
        owners.map((owner, index) =>
          system.users.insert({ ...owner, name: `user ${index}`, email: `u${index}@example.com` }),
        ),
      )
      const [ofAccount, ofProvider, ofPlatform] = users.map(({ user_sid }) => user_sid)
      for (const { user_sid } of users) {
        const session = await system.user_sessions.insert({ user_sid, expires_at: 1 })
        await system.password_resets.insert({ user_sid, link_hash: `of ${user_sid}`, expires_at: 1 })
        await system.user_sessions.remove(session.user_session_sid)
      }
      const stranger = await makeAccount(test.storage)
      const seen = async (tenancy: Tenancy): Promise<Record<string, number>> => {
        const { rows } = await page({}, tenancy)
        const named = rows
          .filter(({ resource }) => resource === 'user_sessions' || resource === 'password_resets')
          .map(({ before, after }) => (cellsOf(after ?? before) as { user_sid: string }).user_sid)
        return Object.fromEntries(
          users.map(({ user_sid: sid }) => [sid, named.filter((n) => n === sid).length]),
        )
      }
      expect(await seen(mine.asAccount)).toEqual({ [ofAccount!]: 3, [ofProvider!]: 0, [ofPlatform!]: 0 })
      expect(await seen(mine.asProvider)).toEqual({ [ofAccount!]: 3, [ofProvider!]: 3, [ofPlatform!]: 0 })
      expect(await seen(admin)).toEqual({ [ofAccount!]: 3, [ofProvider!]: 3, [ofPlatform!]: 3 })
      expect(await seen(stranger.asProvider)).toEqual({ [ofAccount!]: 0, [ofProvider!]: 0, [ofPlatform!]: 0 })
      expect(await test.storage.audit.verify()).toMatchObject({ isIntact: true })
    })

    it('shows an entry of a session that its reader can neither find, end nor make', async () => {
      const system = test.storage.for(systemTenancy)
      const user = await system.users.insert({
        account_sid: mine.account_sid,
        name: 'ann',
        email: 'ann@example.com',
      })
      const made = { user_sid: user.user_sid, expires_at: 1 }
      const { user_session_sid } = await system.user_sessions.insert(made)
      for (const tenancy of [mine.asAccount, mine.asProvider, admin]) {
        expect((await page({ sid: user_session_sid }, tenancy)).total).toBe(1)
        const { user_sessions } = test.storage.for(tenancy)
        expect(await user_sessions.find(user_session_sid)).toBeUndefined()
        expect(await user_sessions.list()).toEqual([])
        await expect(user_sessions.insert(made)).rejects.toThrow('insufficient permissions')
        await expect(user_sessions.remove(user_session_sid)).rejects.toThrow('insufficient permissions')
      }
    })

    it('is refused where its entries are larger than 4 MB together, and one of them is shown', async () => {
      const sid = 'large'
      const after = JSON.stringify({ text: 'x'.repeat(500_000) })
      for (let n = 0; n < 10; n += 1)
        await test.query(
          `insert into audit_log (seq, at, actor_kind, action, resource, sid, "after", previous_hash, hash)
           values (${1000 + n}, 1, 'platform', 'update', 'x', '${sid}', '${after}', '', '')`,
        )
      await expect(page({ sid })).rejects.toMatchObject({
        code: 'bad_request',
        message: 'count: the entries of this page are larger than 4 MB together',
      })
      expect((await page({ sid, count: 1 })).rows).toHaveLength(1)
      expect(await page({ sid, count: 5, page: 2 })).toMatchObject({ total: 10, rows: { length: 5 } })
    })

    it('is cut and narrowed as asked', async () => {
      for (const username of ['a', 'b', 'c']) await clients().insert({ username, password: 'p' })
      const second = await page({ resource: 'clients', count: 2, page: 2 })
      expect(second.total).toBe(3)
      expect(second.rows.map(({ after }) => (cellsOf(after) as { username: string }).username)).toEqual(['a'])
      expect((await page({ actor_sid: 'u1' })).total).toBe(3)
      expect((await page({ actor_sid: 'u2' })).total).toBe(0)
      expect((await page({ action: 'delete' })).total).toBe(0)
      const at = second.rows[0]!.at
      expect((await page({ start: at, resource: 'clients' })).total).toBe(3)
      expect((await page({ end: at - 1, resource: 'clients' })).total).toBe(0)
    })
  })

  describe('a long text', () => {
    it('is kept as its length and hash, so that no change of an application costs more than a page', async () => {
      const applications = test.storage.boundTo({ maker: actor }).for(mine.asAccount).applications
      const app_json = `é${'x'.repeat(250_000)}`
      const { application_sid } = await applications.insert({ name: 'large', app_json })
      await applications.update(application_sid, { app_json: 'x'.repeat(1025) })
      await applications.update(application_sid, { app_json: 'x'.repeat(1024) })
      const [short, middle, long] = await entriesOf(application_sid)
      const sha256 = createHash('sha256').update(app_json).digest('hex')
      expect(cellsOf(long!.after)).toMatchObject({ app_json: { length: 250_002, sha256 } })
      expect(cellsOf(middle!.before)).toMatchObject({ app_json: { length: 250_002, sha256 } })
      expect(cellsOf(short!.after)).toMatchObject({ app_json: 'x'.repeat(1024) })
      for (const entry of [middle, long]) expect(entry!.after!.length).toBeLessThan(1500)
      expect((await test.storage.audit.verify()).isIntact).toBe(true)
    })
  })

  describe('the bytes of an account within an hour', () => {
    it('are bounded by a refusal, which removals, other accounts and administrators do not get', async () => {
      const clock = createFakeClock()
      const storage = await test.reopen({ clock })
      const by = (tenancy: Tenancy) => storage.boundTo({ maker: { ...actor, tenancy } }).for(tenancy).clients
      const add = (tenancy: Tenancy, n: number) =>
        by(tenancy).insert({ account_sid: mine.account_sid, username: `user ${n}`, password: 'p' })
      const { client_sid } = await add(mine.asAccount, 0)
      const large = Object.fromEntries(
        Array.from({ length: 2000 }, (_, n) => [`column ${n}`, 'x'.repeat(1000)]),
      )
      const change = { action: 'update', resource: 'x', sid: 'x', before: null, after: large } as const
      const owned = { account_sid: mine.account_sid, service_provider_sid: null }
      const auditing = createAuditLog({
        database: { builder: createSqliteKind().builder } as never,
        vault: {} as never,
        clock,
      })
      const maker: Actor = { ...actor, tenancy: mine.asAccount }
      for (let n = 0; n < 9; n++) auditing.demandBudget([{ ...change, ...owned }], maker)
      expect(() => auditing.demandBudget([{ ...change, ...owned }], maker)).toThrow(
        expect.objectContaining({ code: 'audit_budget', retryAfterSeconds: expect.any(Number) as number }),
      )
      auditing.demandBudget([{ ...change, ...owned, action: 'delete' }], maker)
      auditing.demandBudget([{ ...change, ...owned }], { ...maker, tenancy: admin })
      auditing.demandBudget([{ ...change, ...owned }], {
        ...maker,
        tenancy: { level: 'account', service_provider_sid: 'p', account_sid: 'another' },
      })
      clock.advance(3_600_000)
      auditing.demandBudget([{ ...change, ...owned }], maker)
      expect(await by(mine.asAccount).remove(client_sid)).toBe(true)
    })
  })

  describe('a checkpoint', () => {
    const after = (seq: number) => test.storage.audit.after(seq, 500)

    it('removes what was exported, is an entry itself, and the chain is proven from it on', async () => {
      for (let n = 0; n < 600; n++) await clients().insert({ username: `user ${n}`, password: 'p' })
      const exported = await after(0)
      expect(exported.map(({ seq }) => seq)).toEqual(Array.from({ length: 500 }, (_, n) => n + 1))
      const more = await after(500)
      const { seq, hash } = more.at(-1)!
      await test.storage.boundTo({ maker: actor }).audit.removeUpTo({ seq, hash })
      const [entry] = (await page({ resource: 'audit_log' })).rows
      expect(entry).toMatchObject({
        action: 'delete',
        sid: String(seq),
        actor_name: 'Ada',
        previous_hash: hash,
      })
      expect(cellsOf(entry!.before)).toEqual({ first: 1, last: seq, hash })
      expect((await page()).total).toBe(1)
      expect(await test.storage.audit.verify()).toEqual({
        isIntact: true,
        entries: 1,
        head: { seq: entry!.seq, hash: entry!.hash },
        checkpoint: { seq, hash },
        problems: [],
      })
      await test.reopen()
      await clients().insert({ username: 'later', password: 'p' })
      expect(await test.storage.audit.verify()).toMatchObject({ isIntact: true, entries: 2 })
    })

    it('is refused for an entry that is not there, with another hash, or behind the last one', async () => {
      await clients().insert({ username: 'a', password: 'p' })
      const [first, second] = await after(0)
      const { audit } = test.storage
      for (const place of [
        { seq: 999, hash: first!.hash },
        { seq: first!.seq, hash: second!.hash },
      ])
        await expect(audit.removeUpTo(place)).rejects.toMatchObject({ code: 'not_found' })
      await audit.removeUpTo(second!)
      await expect(audit.removeUpTo(first!)).rejects.toMatchObject({ code: 'not_found' })
      await expect(test.query('delete from audit_log')).rejects.toThrow('append-only')
    })

    it('is refused where the log up to it was altered, and one that was forged shows', async () => {
      await clients().insert({ username: 'a', password: 'p' })
      const entries = await after(0)
      const last = entries.at(-1)!
      if (store === 'SQLite') await test.query('drop trigger audit_log_no_update')
      else await test.query('alter table audit_log disable trigger all')
      await test.query("update audit_log set actor_name = 'Another' where seq = 1")
      await expect(test.storage.audit.removeUpTo(last)).rejects.toMatchObject({ code: 'audit_log_broken' })
      await test.query(`insert into audit_head values (2, ${last.seq}, '${last.hash}', 'forged')`)
      const { isIntact, problems } = await test.storage.audit.verify()
      expect(isIntact).toBe(false)
      expect(problems).toEqual([{ seq: last.seq, problem: 'checkpoint' }])
    })
  })

  describe('the chain', () => {
    const verdict = () => test.storage.audit.verify()
    /** Changes entries as the owner of the database could. */
    const tamper = async (sql: string): Promise<void> => {
      if (store === 'SQLite') {
        await test.query('drop trigger audit_log_no_update')
        await test.query('drop trigger audit_log_no_delete')
      } else await test.query('alter table audit_log disable trigger all')
      await test.query(sql)
    }
    const write = async (count: number): Promise<void> => {
      for (let n = 0; n < count; n++) await clients().insert({ username: `user ${n}`, password: 'p' })
    }

    it('is whole over everything that was written, and ends where the verdict says', async () => {
      await write(5)
      const found = await verdict()
      const { rows, total } = await page()
      expect(found).toEqual({
        isIntact: true,
        entries: total,
        head: { seq: rows[0]!.seq, hash: rows[0]!.hash },
        checkpoint: null,
        problems: [],
      })
      expect(rows.at(-1)).toMatchObject({ seq: 1, previous_hash: genesis })
      await test.reopen()
      await write(1).catch(() => undefined)
      expect((await verdict()).isIntact).toBe(true)
    })

    it('can be checked by anybody from what the API shows', async () => {
      const { client_sid } = await clients().insert({ username: 'Zoë "z"', password: 'p' })
      const [entry] = await entriesOf(client_sid)
      const { hash, ...rest } = entry!
      const shown: Record<string, unknown> = {
        ...rest,
        at: new Date(rest.at).toISOString(),
        before: cellsOf(rest.before),
        after: cellsOf(rest.after),
      }
      expect(createHash('sha256').update(sorted(shown)).digest('hex')).toBe(hash)
      expect(hashOf(rest)).toBe(hash)
    })

    it('stays whole when many write at once', async () => {
      await Promise.all(
        Array.from({ length: 30 }, (_, n) => clients().insert({ username: `user ${n}`, password: 'p' })),
      )
      expect(await verdict()).toMatchObject({ isIntact: true, problems: [] })
    })

    it('is refused every change by the database itself', async () => {
      await expect(test.query("update audit_log set action = 'x'")).rejects.toThrow('append-only')
      await expect(test.query('delete from audit_log')).rejects.toThrow('append-only')
    })

    it.each([
      ['an entry that was changed', "update audit_log set after = '{}' where seq = 3", 3, 'changed'],
      [
        'an entry whose maker was changed',
        "update audit_log set actor_sid = 'x' where seq = 3",
        3,
        'changed',
      ],
      ['an entry that was removed', 'delete from audit_log where seq = 3', 3, 'missing'],
      ['entries removed from the beginning', 'delete from audit_log where seq < 3', 1, 'missing'],
      ['entries removed from the end', 'delete from audit_log where seq >= 5', 5, 'missing'],
      ['a hash that was changed', `update audit_log set hash = '${genesis}' where seq = 3`, 3, 'changed'],
      ['a head that was forged', "update audit_head set seq = 4, seal = 'x'", 4, 'head'],
      ['a head that was taken away', 'delete from audit_head', 7, 'head'],
    ])('shows %s', async (_name, sql, seq, problem) => {
      await write(4)
      expect((await page()).total).toBe(7)
      await tamper(sql)
      const found = await verdict()
      expect(found.isIntact).toBe(false)
      expect(found.problems).toContainEqual({ seq, problem })
    })

    it('shows an entry that was changed and given a new hash, at the one after it', async () => {
      await write(4)
      const { rows } = await page()
      const { hash: _hash, ...third } = rows.find(({ seq }) => seq === 3)!
      const forged = hashOf({ ...third, actor_name: 'Another user' })
      await tamper(`update audit_log set actor_name = 'Another user', hash = '${forged}' where seq = 3`)
      expect((await verdict()).problems).toEqual([{ seq: 4, problem: 'unchained' }])
    })

    it('does not become good again by what is written after a forged head', async () => {
      await write(4)
      const { rows } = await page()
      const kept = rows.find(({ seq }) => seq === 5)!
      await tamper('delete from audit_log where seq > 5')
      await test.query(`update audit_head set seq = 5, hash = '${kept.hash}'`)
      await clients().insert({ username: 'later', password: 'p' })
      const found = await verdict()
      expect(found.problems).toEqual([{ seq: 6, problem: 'head' }])
    })

    it('goes on over a whole database being verified while it is written', async () => {
      const [found] = await Promise.all([verdict(), write(20)])
      expect(found.isIntact).toBe(true)
    })

    it('is read no further for a client that leaves', async () => {
      const client = createTestAsker()
      const verifying = test.storage.boundTo({ asker: client }).audit.verify()
      client.leave()
      await expect(verifying).rejects.toThrow('the client went away')
    })
  })
})

/** Serialises in the form of RFC 8785, for values whose only numbers are integers. */
function sorted(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${sorted(member)}`).join(',')}}`
}
