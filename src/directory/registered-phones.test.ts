import { afterEach, beforeEach, expect, it } from 'vitest'
import { systemTenancy } from '../contracts/caller.ts'
import type { Binding } from '../sip/sip.ts'
import { createFakeClock } from '../../test/support/fake-clock.ts'
import { makeAccount, openTestStorage, type TestStorage } from '../../test/support/each-store.ts'
import { createDirectory } from './create-directory.ts'
import { createRegisteredPhones, type RegisteredPhones } from './registered-phones.ts'

const realm = 'a.example.test'
const aorOf = (username: string) => `${username}@${realm}`
const bound = ['kept', 'off', 'removed'].map((username) => ({ aor: aorOf(username) }) as Binding)

let test: TestStorage
let account_sid: string
let phones: RegisteredPhones

beforeEach(async () => {
  test = await openTestStorage()
  ;({ account_sid } = await makeAccount(test.storage))
  const { accounts, clients } = test.storage.for(systemTenancy)
  await accounts.update(account_sid, { sip_realm: realm })
  await clients.insert({ account_sid, username: 'kept', password: 'secret' })
  await clients.insert({ account_sid, username: 'off', password: 'secret', is_active: 0 })
  phones = createRegisteredPhones({
    storage: test.storage,
    directory: createDirectory({ storage: test.storage, clock: createFakeClock() }),
    bindings: {
      get: async (aor) => bound.filter((binding) => binding.aor === aor),
      list: async (of) => (of === realm ? bound : []),
      remove: async () => undefined,
      forget: async () => undefined,
    },
  })
})
afterEach(() => test.close())

async function shown(): Promise<unknown> {
  const found = await Promise.all(bound.map(({ aor }) => phones.get(aor)))
  const listed = await phones.list(realm)
  expect(found.flat()).toEqual(listed)
  return listed.map(({ aor }) => aor)
}

it('are those of clients that are active, whatever this node still holds', async () => {
  expect(await shown()).toEqual([aorOf('kept')])
})

it('are none once the account is switched off, or has another realm', async () => {
  const { accounts } = test.storage.for(systemTenancy)
  await accounts.update(account_sid, { is_active: 0 })
  expect(await shown()).toEqual([])
  await accounts.update(account_sid, { is_active: 1, sip_realm: 'b.example.test' })
  expect(await shown()).toEqual([])
})

it('are all where a registration hook decides', async () => {
  const { accounts, webhooks } = test.storage.for(systemTenancy)
  const { webhook_sid } = await webhooks.insert({ url: 'https://hook.example.test/', method: 'POST' })
  await accounts.update(account_sid, { registration_hook_sid: webhook_sid })
  expect(await shown()).toEqual(bound.map(({ aor }) => aor))
})
