import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { covers } from '../../test/support/covers.ts'
import { openTestApi, type TestApi } from '../../test/support/api.ts'

let api: TestApi
beforeAll(async () => {
  api = await openTestApi()
})
afterAll(() => api.close())
afterEach(async () => {
  for (const path of [ofAccount(), ofProvider()]) await api.delete(path, api.adminKey)
})

const ofAccount = () => `/Accounts/${api.own.account_sid}/Limits`
const ofProvider = () => `/ServiceProviders/${api.own.service_provider_sid}/Limits`
const kinds = [
  ['accounts', ofAccount, 'account'],
  ['service providers', ofProvider, 'service_provider'],
] as const

describe.each(kinds)('limits of %s', (_name, path, owner) => {
  it(
    'are one record per category: a second POST answers the same sid and changes the quantity',
    covers(
      { section: 'Endpoints: Accounts', says: 'POST Limits makes a limit or changes it.' },
      {
        section: 'Not shown',
        says: 'The fields and kinds of a limit.',
        chosen:
          '`account_limits_sid, account_sid, category, quantity`; one record per category, 0 is no limit.',
      },
    ),
    async () => {
      const first = await api.post(path(), api.adminKey, { category: 'voice_call_session', quantity: 5 })
      expect([first.status, first.body]).toEqual([201, { sid: expect.any(String) }])
      const second = await api.post(path(), api.own.providerKey, {
        category: 'VOICE_CALL_SESSION',
        quantity: '7',
      })
      expect([second.status, second.body]).toEqual([201, first.body])
      await api.post(path(), api.adminKey, { category: 'device', quantity: 0 })
      const { sid } = first.body as { sid: string }
      const listed = await api.get(path(), api.own.providerKey)
      expect(listed.body).toEqual([
        expect.objectContaining({ category: 'device', quantity: 0 }),
        {
          [`${owner}_limits_sid`]: sid,
          [`${owner}_sid`]: api.own[`${owner}_sid`],
          category: 'voice_call_session',
          quantity: 7,
        },
      ])
      expect((await api.get(`${path()}?category=device`, api.adminKey)).body).toHaveLength(1)
    },
  )

  it('stay one record per category when they are set many times at once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, quantity) =>
        api.post(path(), api.adminKey, { category: 'device', quantity }),
      ),
    )
    expect(new Set(answers.map(({ body }) => (body as { sid: string }).sid)).size).toBe(1)
    expect((await api.get(path(), api.adminKey)).body).toHaveLength(1)
  })

  it('are removed one by one or all at once', async () => {
    for (const category of ['device', 'voice_call_minutes', 'voice_call_session'])
      await api.post(path(), api.adminKey, { category, quantity: 1 })
    const one = await api.delete(`${path()}?category=device`, api.own.providerKey)
    expect([one.status, one.text]).toEqual([204, ''])
    expect((await api.get(path(), api.adminKey)).body).toHaveLength(2)
    expect((await api.delete(path(), api.own.providerKey)).status).toBe(204)
    expect((await api.get(path(), api.adminKey)).body).toEqual([])
    expect((await api.delete(path(), api.adminKey)).status).toBe(204)
  })

  it.each([
    [{ quantity: 1 }, 'category is required'],
    [{ category: 'devices', quantity: 1 }, 'category must be one of'],
    [{ category: 5, quantity: 1 }, 'category must be'],
    [{ category: 'device' }, 'quantity is required'],
    [{ category: 'device', quantity: null }, 'quantity must be a whole number'],
    [{ category: 'device', quantity: '' }, 'quantity must be a whole number'],
    [{ category: 'device', quantity: '1e3' }, 'quantity must be a whole number'],
    [{ category: 'device', quantity: 1.5 }, 'quantity must be a whole number'],
    [{ category: 'device', quantity: -1 }, 'quantity must be at least 0'],
    [{ category: 'device', quantity: 1e12 }, 'quantity must be at most'],
  ])('answer 400 naming the field for %j', async (body, msg) => {
    const answer = await api.post(path(), api.adminKey, body)
    expect([answer.status, answer.body]).toEqual([
      400,
      expect.objectContaining({ msg: expect.stringContaining(msg) }),
    ])
    expect((await api.get(path(), api.adminKey)).body).toEqual([])
  })

  it(
    'are not for an account to change',
    covers({
      section: 'Endpoints: Accounts',
      says: 'POST Limits needs the key of an administrator or a service provider.',
    }),
    async () => {
      const token = api.own.accountKey
      expect((await api.post(path(), token, { category: 'device', quantity: 1 })).status).toBe(403)
      expect((await api.delete(path(), token)).status).toBe(403)
    },
  )
})

describe('who sees which limits', () => {
  it('an account sees its own, and not those of its provider', async () => {
    await api.post(ofAccount(), api.adminKey, { category: 'device', quantity: 3 })
    await api.post(ofProvider(), api.adminKey, { category: 'device', quantity: 9 })
    expect((await api.get(ofAccount(), api.own.accountKey)).body).toMatchObject([{ quantity: 3 }])
    expect((await api.get(ofProvider(), api.own.accountKey)).status).toBe(403)
    expect((await api.get(ofAccount(), api.sibling.accountKey)).status).toBe(403)
    expect((await api.get(ofAccount(), api.foreign.providerKey)).status).toBe(403)
    expect((await api.get(`/Accounts/${api.sibling.account_sid}/Limits`, api.adminKey)).body).toEqual([])
  })

  it('those of an account go with it', async () => {
    const { service_provider_sid } = api.own
    const made = await api.post('/Accounts', api.adminKey, { name: 'short-lived', service_provider_sid })
    const path = `/Accounts/${(made.body as { sid: string }).sid}`
    await api.post(`${path}/Limits`, api.adminKey, { category: 'device', quantity: 3 })
    expect((await api.delete(path, api.adminKey)).status).toBe(204)
  })
})
