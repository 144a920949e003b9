// The operator’s share of an account also holds for the lists that the API reads.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openTestApi, type TestApi } from '../../test/support/api.ts'

const read = Promise.withResolvers<void>()
let api: TestApi
beforeAll(async () => {
  api = await openTestApi({
    sharePercent: 10,
    wrapStorage: (storage) => ({
      ...storage,
      boundTo(behalf) {
        const bound = storage.boundTo(behalf)
        const rowsFor: typeof bound.for = (tenancy) => {
          const rows = bound.for(tenancy)
          const { applications } = rows
          const held = Object.assign(Object.create(applications) as typeof applications, {
            count: async (options: Parameters<typeof applications.count>[0]) => {
              await read.promise
              return await applications.count(options)
            },
            list: (options: Parameters<typeof applications.list>[0]) => applications.list(options),
          })
          return { ...rows, applications: held }
        }
        return { ...bound, for: rowsFor }
      },
    }),
  })
})
afterAll(() => api.close())

it('an account with a tenth may wait for a tenth of the lists, and another account for its own', async () => {
  // Lists of one size would share one read.
  const ask = (count: number, key: string) =>
    Array.from({ length: count }, (_, at) => api.get(`/Applications?page=1&page_size=${at + 1}`, key))
  const greedy = ask(103, api.own.accountKey)
  const others = ask(3, api.sibling.accountKey)
  const refused = await Promise.race(greedy)
  expect(refused).toMatchObject({ status: 503, body: { code: 'account_share' } })
  read.resolve()
  const statuses = (await Promise.all(greedy)).map(({ status }) => status)
  expect(statuses.filter((status) => status === 200).length).toBe(100)
  expect((await Promise.all(others)).map(({ status }) => status)).toEqual([200, 200, 200])
})
