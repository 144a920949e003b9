import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openTestApi, type TestApi } from '../../test/support/api.ts'
import type { ApiAnswer } from '../../test/support/api-request.ts'
import { createFakeClock } from '../../test/support/fake-clock.ts'
import { systemTenancy } from '../contracts/caller.ts'
import { apiRoutes } from './index.ts'

let api: TestApi
const clock = createFakeClock(Date.UTC(2026, 10, 21))

beforeEach(async () => {
  api = await openTestApi({ clock })
})
afterEach(() => api.close())

const post = (path: string, key: string, body?: unknown, token = api.own.accountKey): Promise<ApiAnswer> =>
  api.request('POST', path, token, { body, headers: { 'idempotency-key': key } })

const client = (username: string): object => ({ username, password: 'planted-client-password' })
const sidOf = ({ body }: ApiAnswer): string => (body as { readonly sid: string }).sid
const msgOf = ({ body }: ApiAnswer): string => (body as { readonly msg: string }).msg
const rows = () => api.storage.for(systemTenancy)
const count = (username: string): Promise<number> => rows().clients.count({ where: { username } })

describe('a POST with an Idempotency-Key', () => {
  it('that is sent again is answered as before, and has no second effect', async () => {
    const first = await post('/Clients', 'k1', client('alice'))
    const again = await post('/Clients', 'k1', client('alice'))
    expect([first.status, again.status]).toEqual([201, 201])
    expect(again.text).toBe(first.text)
    expect(first.headers['idempotency-replayed']).toBeUndefined()
    expect(again.headers['idempotency-replayed']).toBe('true')
    expect(again.headers['x-request-id']).not.toBe(first.headers['x-request-id'])
    expect(await count('alice')).toBe(1)
  })

  it('replays an answer without a body, and what only this answer shows', async () => {
    const realm = `/Accounts/${api.own.account_sid}/SipRealms/idem.example.com`
    expect((await post(realm, 'k1')).status).toBe(204)
    const again = await post(realm, 'k1')
    expect([again.status, again.text, again.headers['idempotency-replayed']]).toEqual([204, '', 'true'])

    const made = await post('/ApiKeys', 'k2', { account_sid: api.own.account_sid })
    const replayed = await post('/ApiKeys', 'k2', { account_sid: api.own.account_sid })
    expect(replayed.body).toEqual(made.body)
    const { token } = made.body as { readonly token: string }
    expect((await api.get('/Applications', token)).status).toBe(200)
  })

  it('keeps neither the key that was made nor what was asked in clear', async () => {
    const { body } = await post('/ApiKeys', 'k1', { account_sid: api.own.account_sid })
    await post('/Clients', 'k2', client('alice'))
    const { token } = body as { readonly token: string }
    const stored = await api.contents()
    expect(stored).toContain('k1')
    for (const secret of [token, 'planted-client-password']) expect(stored).not.toContain(secret)
  })

  it('has one entry in the audit log, of the request that had the effect', async () => {
    const sid = sidOf(await post('/Clients', 'k1', client('alice')))
    await post('/Clients', 'k1', client('alice'))
    const { rows: entries } = await api.storage.audit.page({ level: 'admin' }, { page: 1, count: 9, sid })
    expect(entries).toHaveLength(1)
    expect(entries[0]).toMatchObject({ actor_kind: 'api_key', action: 'create' })
  })

  it('is refused with 422 when another body, query, path or route comes with the key', async () => {
    const realms = `/Accounts/${api.own.account_sid}/SipRealms`
    await post('/Clients', 'k1', client('alice'))
    await post(`${realms}/a.example.com`, 'k2')
    for (const other of [
      await post('/Clients', 'k1', client('bob')),
      await post('/Clients?x=1', 'k1', client('alice')),
      await post('/Applications', 'k1', client('alice')),
      await post(`${realms}/b.example.com`, 'k2'),
    ]) {
      expect(other.status).toBe(422)
      expect(other.body).toMatchObject({ code: 'idempotency_key_reused' })
    }
    expect(await count('bob')).toBe(0)
  })

  it('does not meet the same key of another caller', async () => {
    await post('/Clients', 'k1', client('alice'))
    const other = await post('/Clients', 'k1', client('alice'), api.sibling.accountKey)
    expect(other.status).toBe(201)
    expect(other.headers['idempotency-replayed']).toBeUndefined()
    expect(await count('alice')).toBe(2)
  })

  it('that was refused is tried again: only successes are kept', async () => {
    const wrong = await post('/Clients', 'k1', { username: 'alice' })
    expect([wrong.status, msgOf(wrong)]).toEqual([400, 'password is required'])
    await post('/Clients', 'k2', client('alice'))
    const taken = await post('/Clients', 'k1', client('alice'))
    expect([taken.status, taken.headers['idempotency-replayed']]).toEqual([400, undefined])
    const right = await post('/Clients', 'k1', client('bob'))
    expect([right.status, right.headers['idempotency-replayed']]).toEqual([201, undefined])
  })

  it('is answered afresh after 24 hours', async () => {
    await post('/Clients', 'k1', client('alice'))
    await rows()
      .clients.list()
      .then(([row]) => rows().clients.remove(row!.client_sid))
    clock.advance(24 * 3_600_000 - 1)
    expect((await post('/Clients', 'k1', client('alice'))).headers['idempotency-replayed']).toBe('true')
    clock.advance(1)
    expect((await post('/Clients', 'k1', client('alice'))).headers['idempotency-replayed']).toBeUndefined()
    expect(await count('alice')).toBe(1)
  })

  it.each(['', ' ', 'a b', 'ü', 'x'.repeat(256), 'a\tb'])(
    'is refused with 400 for the key %j',
    async (key) => {
      const { status, body } = await post('/Clients', key, client('alice'))
      expect(status).toBe(400)
      expect((body as { readonly msg: string }).msg).toMatch(/^Idempotency-Key must/)
      expect(await count('alice')).toBe(0)
    },
  )

  it('may have a key of 255 characters', async () => {
    expect((await post('/Clients', '~'.repeat(255), client('alice'))).status).toBe(201)
  })

  it('does not repeat its answer to requests without a key, nor to other methods', async () => {
    const headers = { 'idempotency-key': 'k1' }
    expect((await api.request('GET', '/Clients', api.own.accountKey, { headers })).status).toBe(200)
    expect((await api.request('GET', '/Clients', api.own.accountKey, { headers })).status).toBe(200)
    expect((await api.post('/Clients', api.own.accountKey, client('alice'))).status).toBe(201)
    expect((await api.post('/Clients', api.own.accountKey, client('alice'))).status).toBe(400)
  })
})

describe('the handlers that heed the key themselves', () => {
  const posts = apiRoutes.filter(({ method }) => method === 'POST')

  it('are these, each with tests of its own', () => {
    const paths = posts.filter(({ keepsKey }) => keepsKey === true).map(({ path }) => path)
    expect(paths.sort()).toEqual([
      '/Accounts/{AccountSid}/Calls',
      '/Accounts/{AccountSid}/SipRealms/{SipRealm}',
      '/Accounts/{AccountSid}/TtsCache/Synthesize',
      '/forgot-password',
      '/login',
      '/signin',
    ])
  })

  it('are those whose key cannot be handled around them: no caller is known yet, or the response is not JSON', () => {
    for (const { path, access, reply, keepsKey } of posts)
      if (access === 'public' || reply.mediaType !== undefined) expect(keepsKey, path).toBe(true)
  })
})

describe('fifty at once with one key', () => {
  it('have one effect: one is answered, the others wait for it or repeat its answer', async () => {
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => post('/ApiKeys', 'k1', { account_sid: api.own.account_sid })),
    )
    const good = answers.filter(({ status }) => status === 200)
    const early = answers.filter(({ status }) => status === 409)
    expect(good.length).toBeGreaterThan(0)
    expect(good.length + early.length).toBe(50)
    expect(new Set(good.map(({ text }) => text)).size).toBe(1)
    expect(good.filter(({ headers }) => headers['idempotency-replayed'] === undefined)).toHaveLength(1)
    for (const { body } of early) expect(body).toMatchObject({ code: 'request_in_progress' })
    expect(await rows().api_keys.count({ where: { account_sid: api.own.account_sid } })).toBe(2)
  })

  it('of two servers, which know nothing of each other, have one effect too', async () => {
    const other = api.startAnother()
    const send = (n: number): Promise<ApiAnswer> =>
      (n % 2 === 0 ? api : other).request('POST', '/ApiKeys', api.own.accountKey, {
        body: { account_sid: api.own.account_sid },
        headers: { 'idempotency-key': 'k1' },
      })
    const answers = await Promise.all(Array.from({ length: 50 }, (_, n) => send(n)))
    const good = answers.filter(({ status }) => status === 200)
    expect(good.length).toBeGreaterThan(1)
    expect(new Set(good.map(({ text }) => text)).size).toBe(1)
    expect(await rows().api_keys.count({ where: { account_sid: api.own.account_sid } })).toBe(2)
  })

  it('of two servers have one effect if it may happen only once: the second request gets the first response', async () => {
    const servers = [api, api.startAnother()]
    for (let round = 0; round < 10; round++) {
      const body = client(`twin${round}`)
      const headers = { 'idempotency-key': `twin-${round}` }
      const answers = await Promise.all(
        servers.map((server) => server.request('POST', '/Clients', api.own.accountKey, { body, headers })),
      )
      expect(answers.map(({ status }) => status)).toEqual([201, 201])
      expect(answers[1]!.text).toBe(answers[0]!.text)
    }
  })
})

describe('an answer that never arrived', () => {
  it('is given by the next server when the request is sent again', async () => {
    const lost = await post('/ApiKeys', 'k1', { account_sid: api.own.account_sid })
    const next = api.startAnother()
    const again = await next.request('POST', '/ApiKeys', api.own.accountKey, {
      body: { account_sid: api.own.account_sid },
      headers: { 'idempotency-key': 'k1' },
    })
    expect(again.text).toBe(lost.text)
    expect(again.headers['idempotency-replayed']).toBe('true')
  })

  it('leaves nothing when the request failed half-way', async () => {
    const before = (await rows().webhooks.list()).length
    const hook = { url: 'https://app.example.com/' }
    const application = { name: 'twice', call_hook: hook, call_status_hook: hook }
    await api.post('/Applications', api.own.accountKey, application)
    const refused = await post('/Applications', 'k1', application)
    expect(refused.status).toBe(422)
    expect((await rows().webhooks.list()).length).toBe(before + 2)
  })
})
