import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTestApi, type TestApi } from '../../test/support/api.ts'
import { createDirectory } from '../directory/create-directory.ts'
import { createFakeClock } from '../../test/support/fake-clock.ts'

let api: TestApi
beforeAll(async () => {
  api = await openTestApi()
})
afterAll(() => api.close())

const ofAccount = () => `/Accounts/${api.own.account_sid}/CallDefence`
const ofProvider = () => `/ServiceProviders/${api.own.service_provider_sid}/CallDefence`
const read = async () => (await api.get(ofAccount(), api.own.accountKey)).body as Record<string, object>

describe('the CallDefence of an account', () => {
  it('is on before anything is set', async () => {
    expect(await read()).toEqual({
      kill_switch: null,
      country_code: null,
      allow_premium_rate: null,
      allow_satellite: null,
      allow_high_risk: null,
      open_prefixes: [],
      closed_prefixes: [],
      calls_per_second: null,
      calls_per_minute: null,
      concurrent_calls: null,
      minutes_per_day: null,
      effective: {
        kill_switch: 'off',
        country_code: null,
        allow_premium_rate: false,
        allow_satellite: false,
        allow_high_risk: false,
        calls_per_second: 30,
        calls_per_minute: 300,
        concurrent_calls: 200,
        minutes_per_day: 20_000,
      },
      used: { calls_per_second: 0, calls_per_minute: 0, concurrent_calls: 0, minutes_per_day: 0.5 },
    })
  })

  it('changes what is sent, within what its provider allows, and calls are held to it', async () => {
    const provider = { allow_satellite: false, calls_per_minute: 50, kill_switch: 'NEW_CALLS' }
    expect((await api.put(ofProvider(), api.own.providerKey, provider)).status).toBe(204)
    const own = {
      allow_satellite: true,
      allow_high_risk: true,
      open_prefixes: ['+88216'],
      country_code: '44',
    }
    expect((await api.put(ofAccount(), api.own.accountKey, own)).status).toBe(204)
    expect((await api.put(ofAccount(), api.own.accountKey, { calls_per_minute: 500 })).status).toBe(204)
    expect(await read()).toMatchObject({
      ...own,
      calls_per_minute: 500,
      effective: {
        allow_satellite: false,
        allow_high_risk: true,
        calls_per_minute: 50,
        kill_switch: 'new_calls',
        country_code: '44',
      },
    })
    const directory = createDirectory({ storage: api.storage, clock: createFakeClock() })
    expect(await directory.callDefence(api.own)).toMatchObject({
      killSwitch: 'new_calls',
      country: '44',
      account: { open_prefixes: ['+88216'] },
      limits: { calls_per_minute: 50, calls_per_second: 30 },
    })
    const back = { kill_switch: null, calls_per_minute: null, allow_satellite: null }
    expect((await api.put(ofProvider(), api.own.providerKey, back)).status).toBe(204)
    expect((await directory.callDefence(api.own)).killSwitch).toBe('off')
    expect((await api.put(ofAccount(), api.own.accountKey, { open_prefixes: [] })).status).toBe(204)
    expect(await read()).toMatchObject({ open_prefixes: [], effective: { calls_per_minute: 500 } })
  })

  it.each([
    { kill_switch: 'on' },
    { open_prefixes: ['882'] },
    { closed_prefixes: '+49' },
    { country_code: '+49' },
    { calls_per_minute: -1 },
  ])('refuses %o', async (body) => {
    expect((await api.put(ofAccount(), api.own.accountKey, body)).status).toBe(400)
  })

  it('of a provider is not for its accounts', async () => {
    expect((await api.get(ofProvider(), api.own.accountKey)).status).toBe(403)
    expect((await api.put(ofProvider(), api.own.accountKey, { calls_per_minute: 0 })).status).toBe(403)
  })
})
