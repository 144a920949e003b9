import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTestApi, type TestApi } from '../../test/support/api.ts'

let api: TestApi
beforeAll(async () => {
  api = await openTestApi()
  for (const { account_sid } of [api.own, api.sibling, api.foreign])
    api.storage.alerts.raise({ account_sid, alert_type: 'no-tts', message: 'no voice', vendor: 'google' })
  const { account_sid } = api.own
  const call_sid = '5f0c4e9a-2f3b-4c55-9d0e-7b1a3c2d4e5f'
  api.storage.alerts.raise({
    account_sid,
    call_sid,
    alert_type: 'webhook-failure',
    message: 'm',
    detail: 'd',
  })
  await api.storage.alerts.flush()
})
afterAll(() => api.close())

const ofAccount = (query: string, token = api.own.accountKey) =>
  api.get(`/Accounts/${api.own.account_sid}/Alerts${query}`, token)
const ofProvider = (token: string) =>
  api.get(`/ServiceProviders/${api.own.service_provider_sid}/Alerts?page=1&count=10`, token)

describe('Alerts', () => {
  it('are answered by page, with their types, to everybody they concern', async () => {
    for (const token of [api.own.accountKey, api.own.providerKey, api.adminKey]) {
      const { status, body } = await ofAccount('?page=1&count=10', token)
      expect(status).toBe(200)
      expect(body).toMatchObject({ total: 2, page_size: 10, page: 1 })
      const { data } = body as { data: Record<string, unknown>[] }
      expect(data.find(({ alert_type }) => alert_type === 'no-tts')).toEqual({
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
        account_sid: api.own.account_sid,
        service_provider_sid: api.own.service_provider_sid,
        alert_type: 'no-tts',
        message: 'no voice',
        detail: null,
        vendor: 'google',
      })
      expect(data).toContainEqual(expect.objectContaining({ detail: 'd', call_sid: expect.any(String) }))
    }
  })

  it('of a provider are those of all its accounts, and not for accounts', async () => {
    expect((await ofProvider(api.own.providerKey)).body).toMatchObject({ total: 3 })
    expect((await ofProvider(api.adminKey)).body).toMatchObject({ total: 3 })
    expect((await ofProvider(api.own.accountKey)).status).toBe(403)
    expect((await ofProvider(api.foreign.providerKey)).status).toBe(403)
    expect((await ofAccount('?page=1&count=10', api.sibling.accountKey)).status).toBe(403)
  })

  it('are filtered by type and time', async () => {
    expect((await ofAccount('?page=1&count=1&alert_type=NO-TTS')).body).toMatchObject({ total: 1 })
    expect((await ofAccount('?page=2&count=1')).body).toMatchObject({ total: 2, page: 2, data: [{}] })
    expect((await ofAccount('?page=1&count=1&days=1')).body).toMatchObject({ total: 2 })
    expect((await ofAccount('?page=1&count=1&end=2020-01-01T00:00:00Z')).body).toMatchObject({
      total: 0,
      data: [],
    })
  })

  it.each([
    'outbound-calls-stopped',
    'destination-closed',
    'call-rate-limit',
    'outbound-call-limit',
    'call-minutes-limit',
    'certificate-failure',
    'database-unavailable',
    'clock-wrong',
  ])('are found by the type %s, which the platform raises', async (alert_type) => {
    expect((await ofAccount(`?page=1&count=1&alert_type=${alert_type}`)).body).toMatchObject({ total: 0 })
  })

  it.each([
    ['', 'page and count are required'],
    ['?page=1', 'count is required'],
    ['?page=0&count=1', 'page must be at least 1'],
    ['?page=1&count=501', 'count must be at most 500'],
    ['?page=1&count=1&alert_type=storm', 'alert_type must be one of'],
    ['?page=1&count=1&start=yesterday', 'start must be an ISO 8601 time'],
  ])('answer 400 naming the parameter for %j', async (query, msg) => {
    const answer = await ofAccount(query)
    expect([answer.status, answer.body]).toEqual([
      400,
      expect.objectContaining({ msg: expect.stringContaining(msg) }),
    ])
  })
})
