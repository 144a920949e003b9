import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { openTestApi, type TestApi } from '../../test/support/api.ts'

let api: TestApi
beforeAll(async () => {
  api = await openTestApi()
})
beforeEach(() => {
  api.queues.length = 0
  for (const [tenant, name, length] of [
    [api.own, 'sales', 2],
    [api.own, 'support', 14],
    [api.sibling, 'support', 3],
  ] as const)
    api.queues.push({ account_sid: tenant.account_sid, name, length })
})
afterAll(() => api.close())

const path = (): string => `/Accounts/${api.own.account_sid}/Queues`

it('lists the queues of the account and no others, their lengths as text', async () => {
  const answer = await api.get(path(), api.own.accountKey)
  expect(answer.status).toBe(200)
  expect(answer.body).toEqual([
    { name: 'sales', length: '2' },
    { name: 'support', length: '14' },
  ])
})

it.each([
  ['support', ['support']],
  ['s*', ['sales', 'support']],
  ['*port', ['support']],
  ['s', []],
  ['', ['sales', 'support']],
])('finds those whose name matches %j', async (search, names) => {
  const answer = await api.get(`${path()}?search=${encodeURIComponent(search)}`, api.own.accountKey)
  expect((answer.body as { name: string }[]).map(({ name }) => name)).toEqual(names)
})

it('belongs to the account, its provider and the administrator', async () => {
  const statuses = await Promise.all(
    [api.adminKey, api.own.providerKey, api.sibling.accountKey, api.foreign.providerKey].map(
      async (key) => (await api.get(path(), key)).status,
    ),
  )
  expect(statuses).toEqual([200, 200, 403, 403])
})
