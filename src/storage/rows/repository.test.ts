import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemTenancy } from '../../contracts/caller.ts'
import { createSid } from '../../lib/ids.ts'
import type { Repositories } from './rows.ts'
import {
  makeAccount,
  onEachStore,
  type TestAccount,
  type TestStorage,
} from '../../../test/support/each-store.ts'

onEachStore(({ open: openTestStorage }) => {
  let test: TestStorage
  let owner: TestAccount
  let mine: Repositories

  beforeAll(async () => {
    test = await openTestStorage()
    owner = await makeAccount(test.storage)
    mine = test.storage.for(owner.asAccount)
  })
  afterAll(() => test.close())

  describe('insert', () => {
    it('gives the row an id, a time, version 1 and the defaults of its columns', async () => {
      const before = Date.now()
      const client = await mine.clients.insert({ username: 'alice', password: 'wonder' })
      expect(client).toStrictEqual({
        client_sid: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
        account_sid: owner.account_sid,
        service_provider_sid: owner.service_provider_sid,
        username: 'alice',
        password: 'wonder',
        is_active: 1,
        allow_direct_app_calling: 1,
        allow_direct_queue_calling: 1,
        allow_direct_user_calling: 1,
        created_at: expect.any(Number) as number,
        version: 1,
      })
      expect(client.created_at).toBeGreaterThanOrEqual(before)
      expect(await mine.clients.find(client.client_sid)).toStrictEqual(client)
    })

    it('keeps an id that is given', async () => {
      const webhook_sid = createSid()
      expect((await mine.webhooks.insert({ webhook_sid, url: 'http://a/' })).webhook_sid).toBe(webhook_sid)
    })

    it('answers duplicate and names the column that the caller can change', async () => {
      await mine.clients.insert({ username: 'bob', password: 'x' })
      await expect(mine.clients.insert({ username: 'bob', password: 'y' })).rejects.toMatchObject({
        code: 'duplicate',
        message: 'username is already in use',
      })
    })

    it('answers bad_request and names the column when a required one is missing', async () => {
      await expect(mine.clients.insert({ username: 'carol' })).rejects.toMatchObject({
        code: 'bad_request',
        message: 'password is required',
      })
    })

    it('answers bad_request and names the column that points at nothing', async () => {
      await expect(mine.applications.insert({ name: 'a', call_hook_sid: createSid() })).rejects.toMatchObject(
        {
          code: 'bad_request',
          message: 'call_hook_sid names no existing record',
        },
      )
    })
  })

  describe('update', () => {
    it('changes what is given, leaves the rest and raises the version', async () => {
      const { client_sid } = await mine.clients.insert({ username: 'dave', password: 'x' })
      expect(await mine.clients.update(client_sid, { is_active: 0 })).toBe(true)
      expect(await mine.clients.find(client_sid)).toMatchObject({
        username: 'dave',
        password: 'x',
        is_active: 0,
        version: 2,
      })
    })

    it('takes a whole row back, and neither its time nor its version from the caller', async () => {
      const client = await mine.clients.insert({ username: 'erin', password: 'x' })
      expect(await mine.clients.update(client.client_sid, { ...client, version: 99, created_at: 0 })).toBe(
        true,
      )
      expect(await mine.clients.find(client.client_sid)).toEqual({ ...client, version: 2 })
    })

    it('is false for a row that is not there, and changes nothing when nothing is given', async () => {
      expect(await mine.clients.update(createSid(), { is_active: 0 })).toBe(false)
      expect(await mine.clients.update(createSid(), {})).toBe(false)
      const { client_sid } = await mine.clients.insert({ username: 'frank', password: 'x' })
      expect(await mine.clients.update(client_sid, {})).toBe(true)
      expect((await mine.clients.find(client_sid))?.version).toBe(1)
    })

    it('answers duplicate', async () => {
      await mine.clients.insert({ username: 'grace', password: 'x' })
      const { client_sid } = await mine.clients.insert({ username: 'heidi', password: 'x' })
      await expect(mine.clients.update(client_sid, { username: 'grace' })).rejects.toMatchObject({
        code: 'duplicate',
      })
    })
  })

  describe('remove', () => {
    it('answers in_use while another row points at it', async () => {
      const { webhook_sid } = await mine.webhooks.insert({ url: 'http://a/' })
      const { application_sid } = await mine.applications.insert({
        name: 'holder',
        call_hook_sid: webhook_sid,
      })
      await expect(mine.webhooks.remove(webhook_sid)).rejects.toMatchObject({ code: 'in_use' })
      expect(await mine.applications.remove(application_sid)).toBe(true)
      expect(await mine.webhooks.remove(webhook_sid)).toBe(true)
      expect(await mine.webhooks.remove(webhook_sid)).toBe(false)
    })

    it('takes everything of an account along, though its rows point at each other', async () => {
      const account = await makeAccount(test.storage)
      const its = test.storage.for(account.asAccount)
      const { webhook_sid } = await its.webhooks.insert({ url: 'http://a/' })
      const application = await its.applications.insert({ name: 'a', call_hook_sid: webhook_sid })
      await its.accounts.update(account.account_sid, {
        registration_hook_sid: webhook_sid,
        device_calling_application_sid: application.application_sid,
      })
      await its.clients.insert({ username: 'a', password: 'x' })
      await its.api_keys.insert({ token_hash: createSid(), token_prefix: 'abc' })
      const user = await its.users.insert({ name: createSid(), email: createSid() })
      const system = test.storage.for(systemTenancy)
      const session = await system.user_sessions.insert({ user_sid: user.user_sid, expires_at: 1 })
      expect(await its.accounts.remove(account.account_sid)).toBe(true)
      const { account_sid } = account
      for (const table of ['webhooks', 'applications', 'clients', 'api_keys', 'users'] as const)
        expect(await system[table].count({ where: { account_sid } }), table).toBe(0)
      expect(await system.user_sessions.find(session.user_session_sid)).toBeUndefined()
    })

    it('of a provider is refused while it has accounts', async () => {
      const { service_provider_sid } = await makeAccount(test.storage)
      await expect(
        test.storage.for({ level: 'admin' }).service_providers.remove(service_provider_sid),
      ).rejects.toMatchObject({ code: 'in_use' })
    })
  })

  describe('list', () => {
    let account: TestAccount
    let its: Repositories
    beforeAll(async () => {
      account = await makeAccount(test.storage)
      its = test.storage.for(account.asAccount)
      for (const name of ['Delta', 'alpha', 'Bravo 100%', 'charlie_x', 'ALPHABET', 'Ärger'])
        await its.applications.insert({ name, app_json: name === 'Delta' ? '[]' : null })
    })

    const names = async (options: Parameters<Repositories['applications']['list']>[0]): Promise<string[]> =>
      (await its.applications.list(options)).map(({ name }) => name)

    it('orders by the columns asked for, and by time otherwise', async () => {
      expect(await names({ orderBy: ['name'] })).toEqual([
        'ALPHABET',
        'Bravo 100%',
        'Delta',
        'alpha',
        'charlie_x',
        'Ärger',
      ])
      expect(await names({})).toHaveLength(6)
    })

    it('pages without repeating or missing a row', async () => {
      const pages = [0, 2, 4, 6].map((offset) => names({ orderBy: ['name'], limit: 2, offset }))
      expect((await Promise.all(pages)).flat()).toEqual(await names({ orderBy: ['name'] }))
      expect(await names({ orderBy: ['name'], offset: 3 })).toEqual(['alpha', 'charlie_x', 'Ärger'])
      expect(await names({ limit: 0 })).toEqual([])
    })

    it('finds a substring in any letter case, and takes wildcards literally', async () => {
      const containing = (text: string) => names({ contains: { column: 'name', text }, orderBy: ['name'] })
      expect(await containing('Alpha')).toEqual(['ALPHABET', 'alpha'])
      expect(await containing('Ärger')).toEqual(['Ärger'])
      expect(await containing('%')).toEqual(['Bravo 100%'])
      expect(await containing('_')).toEqual(['charlie_x'])
      expect(await containing("'; drop table applications; --")).toEqual([])
    })

    it('finds one text in any letter case, whole, and takes wildcards literally', async () => {
      const alike = (text: string) => names({ alike: { column: 'name', text } })
      expect(await alike('ALPHA')).toEqual(['alpha'])
      expect(await alike('bravo 100%')).toEqual(['Bravo 100%'])
      for (const none of ['alph', 'charlie%', 'bravo 100_', '']) expect(await alike(none), none).toEqual([])
      expect(await its.applications.count({ alike: { column: 'name', text: 'dELTA' } })).toBe(1)
    })

    it('matches NULL where null is asked for', async () => {
      expect(await names({ where: { app_json: null } })).toHaveLength(5)
      expect(await names({ where: { app_json: '[]' } })).toEqual(['Delta'])
      expect(await its.applications.count({ where: { app_json: null } })).toBe(5)
      expect(await its.applications.count({ contains: { column: 'name', text: 'alpha' } })).toBe(2)
    })
  })

  describe('secrets', () => {
    it('are given back in clear and stand nowhere in what is stored', async () => {
      const planted = 'planted-secret-0123456789'
      const { webhook_sid } = await mine.webhooks.insert({ url: 'http://a/', password: planted })
      expect((await mine.webhooks.find(webhook_sid))?.password).toBe(planted)
      await mine.webhooks.update(webhook_sid, { password: `${planted}-2` })
      expect((await mine.webhooks.find(webhook_sid))?.password).toBe(`${planted}-2`)
      const stored = await test.contents()
      expect(stored).toContain(webhook_sid)
      expect(stored).not.toContain(planted)
    })

    it('cannot be searched for', async () => {
      await expect(mine.clients.list({ where: { password: 'x' } })).rejects.toThrow(/cannot be searched/)
    })

    it('do not open in another row', async () => {
      const a = await mine.clients.insert({ username: 'swap-a', password: 'secret-a' })
      const b = await mine.clients.insert({ username: 'swap-b', password: 'secret-b' })
      await test.query(
        `update clients set password = (select password from clients where client_sid = '${a.client_sid}')
       where client_sid = '${b.client_sid}'`,
      )
      expect((await mine.clients.find(a.client_sid))?.password).toBe('secret-a')
      await expect(mine.clients.find(b.client_sid)).rejects.toThrow()
    })
  })

  describe('a transaction', () => {
    it('keeps all of it or nothing', async () => {
      const failure = test.storage.transaction(owner.asAccount, async ({ clients }) => {
        await clients.insert({ username: 'gone', password: 'x' })
        expect(await clients.count({ where: { username: 'gone' } })).toBe(1)
        throw new Error('changed my mind')
      })
      await expect(failure).rejects.toThrow('changed my mind')
      expect(await mine.clients.count({ where: { username: 'gone' } })).toBe(0)
    })

    it('is not seen by others before it is committed', async () => {
      const reached = Promise.withResolvers<void>()
      const goOn = Promise.withResolvers<void>()
      const writing = test.storage.transaction(owner.asAccount, async ({ clients }) => {
        await clients.insert({ username: 'hidden', password: 'x' })
        reached.resolve()
        await goOn.promise
      })
      await reached.promise
      expect(await mine.clients.count({ where: { username: 'hidden' } })).toBe(0)
      goOn.resolve()
      await writing
      expect(await mine.clients.count({ where: { username: 'hidden' } })).toBe(1)
    })

    it('runs after the one before it, so that counting up loses nothing', async () => {
      const { client_sid } = await mine.clients.insert({ username: 'counter', password: '0' })
      const countUp = () =>
        test.storage.transaction(owner.asAccount, async ({ clients }) => {
          const client = await clients.find(client_sid)
          await Promise.resolve()
          await clients.update(client_sid, { password: String(Number(client?.password) + 1) })
        })
      await Promise.all(Array.from({ length: 50 }, countUp))
      expect((await mine.clients.find(client_sid))?.password).toBe('50')
    })

    it('does not hold back writers after one that failed', async () => {
      const outcomes = await Promise.allSettled([
        test.storage.transaction(owner.asAccount, () => Promise.reject(new Error('no'))),
        mine.clients.insert({ username: 'after', password: 'x' }),
      ])
      expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
    })

    it('ends with its work: its repositories refuse to go on', async () => {
      let kept: Repositories | undefined
      await test.storage.transaction(owner.asAccount, (repositories) => {
        kept = repositories
        return Promise.resolve()
      })
      await expect(kept?.clients.count()).rejects.toThrow(/after its transaction had ended/)
    })
  })
})
