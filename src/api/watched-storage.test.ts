import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { systemTenancy } from '../lib/caller.ts'
import { createUser, openTestApi } from '../../test/support/api.ts'
import type { TestApi } from '../../test/support/api.ts'
import { watchStorage } from './watched-storage.ts'

let api: TestApi
let changes = 0
let watched: TestApi['storage']
beforeAll(async () => {
  api = await openTestApi()
  watched = watchStorage(api.storage, () => changes++)
})
beforeEach(() => {
  changes = 0
})
afterAll(() => api.close())

async function userSid(): Promise<string> {
  const name = await createUser(api.storage)
  const [user] = await watched.for(systemTenancy).users.list({ where: { name } })
  return user!.user_sid
}

describe('watched storage', () => {
  it('tells of a user that is changed or removed, outside a transaction and within', async () => {
    const user_sid = await userSid()
    await watched.for(systemTenancy).users.update(user_sid, { is_active: 0 })
    expect(changes).toBe(1)
    await watched.transaction(systemTenancy, (rows) => rows.users.remove(user_sid))
    expect(changes).toBe(2)
  })

  it('tells only once the transaction is over, and not of one that failed', async () => {
    const user_sid = await userSid()
    const failing = watched.transaction(systemTenancy, async (rows) => {
      await rows.users.update(user_sid, { is_active: 0 })
      expect(changes).toBe(0)
      throw new Error('on purpose')
    })
    await expect(failing).rejects.toThrow('on purpose')
    expect(changes).toBe(0)
    expect((await api.storage.for(systemTenancy).users.find(user_sid))?.is_active).toBe(1)
  })

  it('keeps quiet about reads, new rows and other tables', async () => {
    const rows = watched.for(systemTenancy)
    await userSid()
    await rows.api_keys.list()
    const hook = await rows.webhooks.insert({ url: 'https://a.example.com' })
    await rows.webhooks.remove(hook.webhook_sid)
    expect(changes).toBe(0)
  })
})
