import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemTenancy } from '../../contracts/caller.ts'
import type { Storage } from '../storage.ts'
import { makeAccount, openTestStorage, type TestStorage } from '../../../test/support/each-store.ts'

let test: TestStorage
let storage: Storage
beforeAll(async () => {
  test = await openTestStorage()
  storage = test.storage
})
afterAll(() => test.close())

/** Returns whether the revisions of all tables, of webhooks and of carriers rose during `work`. */
async function risen(work: () => Promise<unknown>): Promise<readonly boolean[]> {
  const read = (): number[] => [
    storage.revision(),
    storage.revision(['webhooks', 'clients']),
    storage.revision(['voip_carriers', 'clients']),
  ]
  const before = read()
  await work().catch(() => undefined)
  return read().map((now, index) => now > (before[index] ?? now))
}

describe('the revision', () => {
  it('of some tables rises with changes of those only', async () => {
    const { account_sid } = await makeAccount(storage)
    const { webhooks } = storage.for(systemTenancy)
    const insert = (): Promise<{ webhook_sid: string }> =>
      webhooks.insert({ account_sid, url: 'https://a.example', method: 'POST' })
    expect(await risen(insert)).toEqual([true, true, false])
    const { webhook_sid } = await insert()
    expect(await risen(() => webhooks.update(webhook_sid, { url: 'https://b.example' }))).toEqual([
      true,
      true,
      false,
    ])
    expect(await risen(() => webhooks.remove(webhook_sid))).toEqual([true, true, false])
  })

  it('of every table rises with a transaction that fails, which may have left its changes behind', async () => {
    const failing = () => storage.transaction(systemTenancy, () => Promise.reject(new Error('broken off')))
    expect(await risen(failing)).toEqual([true, true, true])
  })

  it('stays while rows are only read', async () => {
    expect(await risen(() => storage.for(systemTenancy).webhooks.list())).toEqual([false, false, false])
  })
})
