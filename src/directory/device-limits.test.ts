import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createDeviceLimits } from './device-limits.ts'
import { systemTenancy } from '../contracts/caller.ts'
import type { Binding } from '../sip/sip.ts'
import {
  makeAccount,
  openTestStorage,
  type TestAccount,
  type TestStorage,
} from '../../test/support/each-store.ts'

let test: TestStorage
let own: TestAccount & { readonly realm: string }
let sibling: TestAccount & { readonly realm: string }
let bound: Map<string, Binding>
let admit: ReturnType<typeof createDeviceLimits>

async function accountWithRealm(service_provider_sid?: string) {
  const account = await makeAccount(test.storage, service_provider_sid)
  const row = await test.storage.for(systemTenancy).accounts.find(account.account_sid)
  return { ...account, realm: row?.sip_realm ?? '' }
}

beforeEach(async () => {
  test = await openTestStorage()
  own = await accountWithRealm()
  sibling = await accountWithRealm(own.service_provider_sid)
  bound = new Map()
  admit = createDeviceLimits({
    storage: test.storage,
    alerts: test.storage.alerts,
    bindings: () => ({
      list: async (realm) => [...bound.values()].filter(({ aor }) => aor.endsWith(`@${realm}`)),
    }),
  })
})
afterEach(() => test.close())

function register(username: string, realm = own.realm, key = username): Promise<string | undefined> {
  const aor = `${username}@${realm}`
  return admit({ realm, username, key }, async () => void bound.set(`${aor} ${key}`, { aor, key } as Binding))
}
const limit = (owner: object, quantity: number) =>
  test.storage.for(systemTenancy).limits.insert({ ...owner, category: 'device', quantity })
const full = 'Max Devices Registered'

describe('the limit device', () => {
  it('of an account admits as many as it says, and makes room when one is gone', async () => {
    await limit({ account_sid: own.account_sid }, 2)
    expect([await register('a'), await register('b'), await register('c')]).toEqual([
      undefined,
      undefined,
      full,
    ])
    expect([...bound.keys()]).toEqual([`a@${own.realm} a`, `b@${own.realm} b`])
    bound.delete(`a@${own.realm} a`)
    expect(await register('c')).toBeUndefined()
    await test.storage.alerts.flush()
    const page = await test.storage.alerts.page(
      systemTenancy,
      { account_sid: own.account_sid },
      { page: 1, count: 10 },
    )
    expect(page.rows.map(({ alert_type }) => alert_type)).toEqual(['account-device-limit'])
  })

  it('counts every phone of a user, and none twice', async () => {
    await limit({ account_sid: own.account_sid }, 2)
    const desk = () => register('a', own.realm, 'desk')
    expect([await desk(), await desk()]).toEqual([undefined, undefined])
    expect(await register('a', own.realm, 'hall')).toBeUndefined()
    expect(await register('a', own.realm, 'car')).toBe(full)
  })

  it('admits exactly as many when all come at once', async () => {
    await limit({ account_sid: own.account_sid }, 3)
    const answers = await Promise.all(['a', 'b', 'c', 'd', 'e', 'f'].map((name) => register(name)))
    expect(answers).toEqual([undefined, undefined, undefined, full, full, full])
    expect(bound.size).toBe(3)
  })

  it('of a service provider counts the devices of all its accounts', async () => {
    await limit({ service_provider_sid: own.service_provider_sid }, 2)
    const foreign = await accountWithRealm()
    expect(await register('a')).toBeUndefined()
    expect(await register('a', foreign.realm)).toBeUndefined()
    expect(await register('a', sibling.realm)).toBeUndefined()
    expect(await register('b', sibling.realm)).toBe(full)
    expect(await register('b', foreign.realm)).toBeUndefined()
  })

  it('of 0, or none, admits everybody', async () => {
    await limit({ account_sid: own.account_sid }, 0)
    const answers = await Promise.all(Array.from({ length: 10 }, (_, number) => register(String(number))))
    expect(answers.every((answer) => answer === undefined)).toBe(true)
  })
})
