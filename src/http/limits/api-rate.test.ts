import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createFakeClock } from '../../../test/support/fake-clock.ts'
import { openTestApi, type TestApi } from '../../../test/support/api.ts'

const clock = createFakeClock()
let api: TestApi
beforeAll(async () => {
  api = await openTestApi({ clock, rateLimits: { perKey: 1000, perAddress: 1000 } })
})
afterAll(() => api.close())

const ask = (token: string) => api.get('/PasswordSettings', token)
const limit = async (path: string, quantity: number) => {
  const answer = await api.post(`${path}/Limits`, api.adminKey, { category: 'api_rate', quantity })
  expect(answer.status).toBe(201)
}
const statuses = async (token: string, count: number): Promise<number[]> => {
  const found: number[] = []
  for (let number = 0; number < count; number++) found.push((await ask(token)).status)
  return found
}

describe('the limit api_rate', () => {
  it('of an account answers 429 with Retry-After from the next request on, to all of its callers and to no others', async () => {
    const { account_sid, service_provider_sid } = api.own
    const token = await api.logIn({ account_sid, service_provider_sid })
    expect(await statuses(api.own.accountKey, 3)).toEqual([200, 200, 200])
    await limit(`/Accounts/${account_sid}`, 3)
    expect(await statuses(api.own.accountKey, 2)).toEqual([200, 200])
    expect(await statuses(token, 2)).toEqual([200, 429])
    const refused = await ask(api.own.accountKey)
    expect(refused.status).toBe(429)
    expect(refused.headers).toMatchObject({
      'retry-after': '20',
      ratelimit: '"account";r=0;t=20',
      'ratelimit-policy': '"address";q=1000;w=60, "key";q=1000;w=60, "account";q=3;w=60',
    })
    expect(refused.body).toMatchObject({ msg: 'more than 3 requests a minute', code: 'too_many_requests' })
    for (const other of [api.sibling.accountKey, api.own.providerKey, api.adminKey])
      expect((await ask(other)).status).toBe(200)
    await api.storage.alerts.flush()
    const alerts = await api.get(`/Accounts/${account_sid}/Alerts?page=1&count=10`, api.adminKey)
    expect(alerts.body).toMatchObject({ data: [{ alert_type: 'account-api-limit' }, {}] })
    clock.advance(20_000)
    expect(await statuses(api.own.accountKey, 2)).toEqual([200, 429])
  })

  it('is what an answer that was let through tells of when it is the nearest to its end', async () => {
    const { account_sid } = api.sibling
    await limit(`/Accounts/${account_sid}`, 3)
    const { headers } = await ask(api.sibling.accountKey)
    expect(headers).toMatchObject({ ratelimit: '"account";r=2;t=20' })
    expect((await ask(api.adminKey)).headers).toMatchObject({
      ratelimit: expect.stringMatching(/^"(address|key)";/),
      'ratelimit-policy': '"address";q=1000;w=60, "key";q=1000;w=60',
    })
  })

  it('ends with the limit, and 0 is none', async () => {
    const path = `/Accounts/${api.sibling.account_sid}`
    await limit(path, 1)
    expect(await statuses(api.sibling.accountKey, 2)).toEqual([200, 429])
    await limit(path, 0)
    expect(await statuses(api.sibling.accountKey, 3)).toEqual([200, 200, 200])
    await limit(path, 1)
    clock.advance(60_000)
    expect(await statuses(api.sibling.accountKey, 2)).toEqual([200, 429])
    await api.delete(`${path}/Limits`, api.adminKey)
    expect(await statuses(api.sibling.accountKey, 3)).toEqual([200, 200, 200])
  })

  it('of a service provider is shared by it and all its accounts', async () => {
    await limit(`/ServiceProviders/${api.foreign.service_provider_sid}`, 2)
    expect(await statuses(api.foreign.accountKey, 1)).toEqual([200])
    expect(await statuses(api.foreign.providerKey, 2)).toEqual([200, 429])
    const refused = await ask(api.foreign.accountKey)
    expect(refused.status).toBe(429)
    expect(refused.headers).toMatchObject({ 'retry-after': '30', ratelimit: '"service_provider";r=0;t=30' })
  })
})
