import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { covers } from '../../test/support/covers.ts'
import { openTestApi, type TestApi } from '../../test/support/api.ts'
import type { AppEnv, PublishedEnv } from '../webhooks/app-env.ts'

let api: TestApi
let published: PublishedEnv
let asked: string[] = []
const appEnv: AppEnv = {
  async ask(url) {
    asked.push(url)
    return published
  },
}
const greeting = { type: 'string', description: 'Said first.', required: true, uiHint: 'textarea' } as const
beforeAll(async () => {
  api = await openTestApi({ appEnv })
})
afterAll(() => api.close())
beforeEach(() => {
  asked = []
  published = { outcome: 'schema', schema: { greeting } }
})

const url = 'https://app.example.com/call'
const path = `/AppEnv?url=${encodeURIComponent(url)}`

describe('GET /AppEnv', () => {
  it(
    'answers 200 with the schema as it was published, to callers of every level',
    covers({
      section: 'Endpoints: Applications',
      says: 'AppEnv answers the schema that an application publishes; `url` is required.',
    }),
    async () => {
      for (const token of [api.adminKey, api.own.providerKey, api.own.accountKey]) {
        const answer = await api.get(path, token)
        expect(answer.status).toBe(200)
        expect(answer.body).toEqual({ greeting })
      }
      expect(asked).toEqual([url, url, url])
    },
  )

  it('answers 204 without a body when nothing is published', async () => {
    published = { outcome: 'none' }
    const answer = await api.get(path, api.adminKey)
    expect([answer.status, answer.text]).toEqual([204, ''])
  })

  it(
    'answers 400 with what is wrong with the schema',
    covers({ section: 'Endpoints: Applications', says: 'AppEnv answers 400 when the schema is invalid.' }),
    async () => {
      published = { outcome: 'invalid', fault: 'the variable a needs a type: string, number or boolean' }
      const answer = await api.get(path, api.adminKey)
      expect(answer.status).toBe(400)
      expect(answer.body).toMatchObject({ msg: 'the variable a needs a type: string, number or boolean' })
    },
  )

  it.each([
    '',
    '?url=',
    '?url=ftp://a.example.com',
    '?url=file:///etc/passwd',
    '?url=/call',
    '?url=http://u:p@a.example.com',
    '?url=a&url=b',
  ])('answers 400 naming url to %s, and sends no request', async (query) => {
    const answer = await api.get(`/AppEnv${query}`, api.adminKey)
    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({ msg: expect.stringContaining('url') })
    expect(asked).toEqual([])
  })

  it('answers 401 without a token, and sends no request', async () => {
    expect((await api.get(path)).status).toBe(401)
    expect(asked).toEqual([])
  })
})

describe('env_vars of an application', () => {
  const body = (more: object) => ({
    name: `a ${Math.random()}`,
    call_hook: { url },
    call_status_hook: { url: `${url}/status` },
    ...more,
  })
  const create = (more: object) => api.post('/Applications', api.own.accountKey, body(more))

  it('are stored when they match the published variables; variables that are not published are kept', async () => {
    const answer = await create({ env_vars: { greeting: 'hi', more: 1 } })
    expect(answer.status).toBe(201)
    expect(asked).toEqual([url])
    const record = await api.get(`/Applications/${(answer.body as { sid: string }).sid}`, api.own.accountKey)
    expect(record.body).toMatchObject({ env_vars: { greeting: 'hi', more: 1 } })
  })

  it('answer 400 naming the variable when they do not fit, and nothing is stored', async () => {
    const before = (await api.get('/Applications', api.own.accountKey)).text
    for (const [env_vars, msg] of [
      [{}, 'env_vars: greeting is required by the application'],
      [{ greeting: 5 }, 'env_vars: greeting must be text'],
    ] as const) {
      const answer = await create({ env_vars })
      expect(answer.status).toBe(400)
      expect(answer.body).toMatchObject({ msg })
    }
    expect((await api.get('/Applications', api.own.accountKey)).text).toBe(before)
  })

  it('are not checked when nothing, or nothing valid, is published', async () => {
    for (const outcome of [{ outcome: 'none' }, { outcome: 'invalid', fault: 'a' }] as const) {
      published = outcome
      expect((await create({ env_vars: { greeting: 5 } })).status).toBe(201)
    }
  })

  it('cause no request when none are sent', async () => {
    expect((await create({})).status).toBe(201)
    expect((await create({ env_vars: null })).status).toBe(201)
    expect(asked).toEqual([])
  })

  it('of an update are held against the new hook, or else against the one that is there', async () => {
    const { sid } = (await create({ env_vars: { greeting: 'hi' } })).body as { sid: string }
    asked = []
    const put = (change: object) => api.put(`/Applications/${sid}`, api.own.accountKey, change)
    expect((await put({ env_vars: { greeting: 5 } })).status).toBe(400)
    expect((await put({ env_vars: { greeting: 'ho' } })).status).toBe(204)
    const other = 'https://other.example.com/call'
    expect((await put({ env_vars: { greeting: 'ho' }, call_hook: { url: other } })).status).toBe(204)
    expect((await put({ record_all_calls: 1 })).status).toBe(204)
    expect(asked).toEqual([url, url, other])
  })

  it('of an application of another account cause no request', async () => {
    const { sid } = (await create({})).body as { sid: string }
    const change = { env_vars: { greeting: 'hi' } }
    expect((await api.put(`/Applications/${sid}`, api.foreign.accountKey, change)).status).toBe(404)
    expect(asked).toEqual([])
  })
})
