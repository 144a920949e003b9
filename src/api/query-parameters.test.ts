// Query strings as clients write them: parameters left empty, words in any letter case, a plus that is not encoded.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTestApi, type TestApi } from '../../test/support/api.ts'

let api: TestApi
beforeAll(async () => {
  api = await openTestApi()
})
afterAll(() => api.close())

const get = (path: string) => api.get(path, api.adminKey)
const ofAccount = (rest: string): string => `/Accounts/${api.own.account_sid}/${rest}`

describe('a parameter that is left empty', () => {
  it.each([
    ['RecentCalls?page=1&count=25', ['days', 'start', 'end', 'answered', 'direction', 'trunk', 'filter']],
    ['Alerts?page=1&count=25', ['alert_type', 'days', 'start', 'end']],
    ['Calls?', ['direction', 'from', 'to', 'callStatus']],
    ['Limits?', ['category']],
    ['Applications?', ['page', 'page_size', 'name']],
  ])('of %s says nothing', async (path, names) => {
    const answer = await get(ofAccount(`${path}&${names.map((name) => `${name}=`).join('&')}`))
    expect([answer.status, answer.body]).toEqual([200, (await get(ofAccount(path))).body])
  })

  it('is refused where something is removed: left out, it would mean everything', async () => {
    const limit = { category: 'device', quantity: 3 }
    await api.post(ofAccount('Limits'), api.adminKey, limit)
    const answer = await api.delete(ofAccount('Limits?category='), api.adminKey)
    expect([answer.status, answer.body]).toEqual([
      400,
      expect.objectContaining({ msg: expect.stringContaining('category must be one of') }),
    ])
    expect((await get(ofAccount('Limits'))).body).toEqual([expect.objectContaining(limit)])
  })

  it('is missing where it is required', async () => {
    for (const [path, name] of [
      ['/SipGateways?voip_carrier_sid=', 'voip_carrier_sid'],
      [ofAccount('RecentCalls?page=&count=1'), 'page'],
    ] as const) {
      const { status, body } = await get(path)
      expect([status, body]).toEqual([400, expect.objectContaining({ msg: `${name} is required` })])
    }
  })
})

describe('a word', () => {
  it.each(['answered=TRUE', 'answered=False', 'direction=INBOUND'])(
    'is taken in any case: %s',
    async (word) => {
      expect((await get(ofAccount(`RecentCalls?page=1&count=1&${word}`))).status).toBe(200)
    },
  )

  it('that is none of those there are is refused with those there are', async () => {
    const { body } = await get(ofAccount('RecentCalls?page=1&count=1&direction=up'))
    expect((body as { msg: string }).msg).toBe('direction must be one of "inbound", "outbound"')
  })
})

describe('a plus that is not encoded', () => {
  it('finds phone numbers', async () => {
    const { body } = await api.post('/PhoneNumbers', api.own.accountKey, { number: '+4930123456' })
    const { sid: phone_number_sid } = body as { sid: string }
    for (const filter of ['+4930', '%2B4930', '4930'])
      expect((await get(`/PhoneNumbers?page=1&filter=${filter}`)).body).toMatchObject({
        total: 1,
        data: [{ phone_number_sid }],
      })
  })

  it('is the offset of a time', async () => {
    const path = 'RecentCalls?page=1&count=1'
    for (const time of ['2026-05-01T22:00:00+02:00', '2026-05-01T22:00+0200', '2026-05-01%2022:00'])
      expect((await get(ofAccount(`${path}&start=${time}`))).status, time).toBe(200)
    expect((await get(ofAccount(`${path}&start=2026-05-01+02:00+02:00+02:00`))).status).toBe(400)
  })
})

describe('a filter', () => {
  it('does not lead out of the account or provider in the path', async () => {
    const { own, sibling, foreign } = api
    await api.post('/VoipCarriers', sibling.accountKey, { name: 'of the sibling' })
    await api.post('/PhoneNumbers', foreign.accountKey, { number: '4989123456' })
    const carriers = await api.get(
      `/Accounts/${own.account_sid}/VoipCarriers?account_sid=${sibling.account_sid}`,
      own.providerKey,
    )
    expect(carriers.text).not.toContain('of the sibling')
    const numbers = await get(
      `/ServiceProviders/${own.service_provider_sid}/PhoneNumbers?service_provider_sid=${foreign.service_provider_sid}`,
    )
    expect(numbers.text).not.toContain('4989123456')
  })
})
