// The work that a stranger makes the database do by signing in with a mail address.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openTestApi, type TestApi } from '../../../test/support/api.ts'
import { createUser, testPassword } from '../../../test/support/api-tenants.ts'
import type { Repositories, Storage } from '../../storage/storage.ts'

let lists: unknown[] = []
let api: TestApi

/** Notes each list of users that is read. */
const watched = (storage: Storage): Storage => ({
  ...storage,
  boundTo(behalf) {
    const bound = storage.boundTo(behalf)
    return { ...bound, for: (tenancy) => watchedRows(bound.for(tenancy)) }
  },
})

function watchedRows(rows: Repositories): Repositories {
  const { users } = rows
  const list: typeof users.list = (options) => {
    lists.push(options)
    return users.list(options)
  }
  return Object.create(rows, {
    users: { value: Object.create(users, { list: { value: list } }) },
  }) as typeof rows
}

beforeAll(async () => {
  api = await openTestApi({ wrapStorage: watched })
})
afterAll(() => api.close())
beforeEach(() => {
  lists = []
})

const signIn = (email: string, password: string) => api.post('/signin', undefined, { email, password })

describe('POST /signin', () => {
  it('reads one user by the whole address in any case of its letters, and no list of those alike', async () => {
    const name = await createUser(api.storage)
    expect((await signIn(`${name.toUpperCase()}@Example.COM`, testPassword)).status).toBe(200)
    expect((await signIn('%', testPassword)).status).toBe(403)
    expect(lists.length).toBeGreaterThan(0)
    for (const options of lists) expect(options).toEqual({ alike: expect.anything(), limit: 2 })
  })

  it('reads none from an address that is locked out', async () => {
    for (let guess = 0; guess < 60; guess++) await signIn(`stranger-${guess}@example.com`, 'wrong')
    lists = []
    const refused = await signIn('one-more@example.com', 'wrong')
    expect(refused.body).toMatchObject({ code: 'locked_out' })
    expect(lists).toEqual([])
  })
})
