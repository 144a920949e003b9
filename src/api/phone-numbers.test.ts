import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemTenancy } from '../contracts/caller.ts'
import { createSid } from '../lib/ids.ts'
import { openTestApi, type TestApi } from '../../test/support/api.ts'

let api: TestApi
let ownCarrier: string
let siblingCarrier: string
let sharedCarrier: string
beforeAll(async () => {
  api = await openTestApi()
  ownCarrier = await carrier({ account_sid: api.own.account_sid })
  siblingCarrier = await carrier({ account_sid: api.sibling.account_sid })
  sharedCarrier = await carrier({ service_provider_sid: api.own.service_provider_sid })
})
afterAll(() => api.close())

async function post(path: string, token: string, sent: object): Promise<string> {
  const answer = await api.post(path, token, sent)
  expect(answer.text).toMatch(/^\{"sid":"[0-9a-f-]{36}"\}$/)
  expect(answer.status).toBe(201)
  return (answer.body as { sid: string }).sid
}

const carrier = (owner: object): Promise<string> =>
  post('/VoipCarriers', api.adminKey, { name: 'a carrier', ...owner })

let made = 0
const body = (more: object = {}) => ({ number: `1555${1000 + ++made}`, ...more })
const create = (more: object = {}, token = api.own.accountKey): Promise<string> =>
  post('/PhoneNumbers', token, body(more))
const read = async (sid: string): Promise<Record<string, unknown>> =>
  (await api.get(`/PhoneNumbers/${sid}`, api.adminKey)).body

async function application(account_sid: string): Promise<string> {
  const hook = { url: 'https://a.example.com' }
  const name = `application ${++made}`
  return post('/Applications', api.adminKey, { name, account_sid, call_hook: hook, call_status_hook: hook })
}

describe('POST /PhoneNumbers', () => {
  it('answers 201 {sid}, and the record reads back whole', async () => {
    const application_sid = await application(api.own.account_sid)
    const sid = await create({ number: '15550000001', voip_carrier_sid: ownCarrier, application_sid })
    expect(await read(sid)).toEqual({
      phone_number_sid: sid,
      number: '15550000001',
      received_number: '15550000001',
      e164_number: null,
      voip_carrier_sid: ownCarrier,
      account_sid: api.own.account_sid,
      application_sid,
      service_provider_sid: api.own.service_provider_sid,
    })
  })

  it.each([
    ['+15550000002', '15550000002', '+15550000002'],
    ['0305550003', '0305550003', null],
    ['+0305550004', '0305550004', null],
    ['+1 (555) 000-0005', '15550000005', '+15550000005'],
    ['0305-550006', '0305550006', null],
    ['+1555*', '1555*', null],
    ['1555000....', '1555000....', null],
    ['^1(555|666)\\d+$', '^1(555|666)\\d+$', null],
    ['*', '*', null],
  ])('keeps %s as it was sent, beside %s to match and %s', async (number, matched, e164_number) => {
    expect(await read(await create({ number, voip_carrier_sid: ownCarrier }))).toMatchObject({
      number: matched,
      received_number: number,
      e164_number,
    })
  })

  it('belongs to whom the caller is, or names', async () => {
    const { account_sid, service_provider_sid, providerKey } = api.own
    expect(await read(await create({}, providerKey))).toMatchObject({
      account_sid: null,
      service_provider_sid,
    })
    expect(await read(await create({ account_sid }, providerKey))).toMatchObject({ account_sid })
    expect(await read(await create({ account_sid }, api.adminKey))).toMatchObject({ service_provider_sid })
    expect(await read(await create({}, api.adminKey))).toMatchObject({
      account_sid: null,
      service_provider_sid: null,
    })
    for (const [token, other] of [
      [api.own.accountKey, api.sibling.account_sid],
      [providerKey, api.foreign.account_sid],
    ] as const)
      expect((await api.post('/PhoneNumbers', token, body({ account_sid: other }))).status).toBe(403)
  })

  it('takes no part of a range that another account has with a shared carrier; its provider may give it', async () => {
    const { account_sid, providerKey } = api.own
    const voip_carrier_sid = sharedCarrier
    const ofSibling = { account_sid: api.sibling.account_sid, voip_carrier_sid }
    await create({ ...ofSibling, number: '+1777*' }, providerKey)
    for (const number of ['+17771234', '17772*', '177*', '*', '^1777\\d$']) {
      const answer = await api.post('/PhoneNumbers', api.own.accountKey, body({ number, voip_carrier_sid }))
      expect([number, answer.status, answer.body]).toMatchObject([number, 422, { code: 'in_use' }])
    }
    await create({ number: '+17781234', voip_carrier_sid })
    await create({ number: '1778*', voip_carrier_sid })
    await create({ account_sid, number: '+17771234', voip_carrier_sid }, providerKey)
  })

  it('takes a carrier of the account or a shared one, and no other', async () => {
    await create({ voip_carrier_sid: ownCarrier })
    await create({ voip_carrier_sid: sharedCarrier })
    for (const voip_carrier_sid of [siblingCarrier, createSid()]) {
      const { account_sid } = api.own
      for (const token of [api.own.accountKey, api.own.providerKey, api.adminKey]) {
        const answer = await api.post('/PhoneNumbers', token, body({ account_sid, voip_carrier_sid }))
        expect(answer.status).toBe(400)
        expect(answer.body).toMatchObject({ msg: 'voip_carrier_sid names no voip carrier of this account' })
      }
    }
  })

  it.each([
    ['no number', { number: undefined }, 'number is required'],
    ['an empty number', { number: '' }, 'number must not be empty'],
    ['a plus alone', { number: '+' }, 'number must be a number or a pattern'],
    ['white space in a pattern', { number: '1555 .*' }, 'number must be a number or a pattern'],
    ['CR LF', { number: '1555\r\nX: y' }, 'number must be a number or a pattern'],
    ['a long number', { number: '1'.repeat(133) }, 'number must have at most 132 characters'],
    ['a number that is none', { number: 1555 }, 'number must be text'],
    ['a costly pattern', { number: '((1?|.){33}){29}x' }, 'number is too large a pattern'],
    ['a malformed carrier', { voip_carrier_sid: 'x' }, 'voip_carrier_sid must be a UUID'],
    ['an unknown application', { application_sid: createSid() }, 'application_sid names no application'],
  ])('answers 400 naming the field for %s', async (_name, more, msg) => {
    const answer = await api.post('/PhoneNumbers', api.own.accountKey, body(more))
    expect(answer.status).toBe(400)
    expect((answer.body as { msg: string }).msg).toContain(msg)
  })

  it('answers 422 for the 101st pattern of an account with one carrier, and still takes plain numbers', async () => {
    const { account_sid, accountKey } = api.own
    const voip_carrier_sid = await carrier({ account_sid })
    const rows = api.storage.for(systemTenancy)
    for (let n = 0; n < 100; n++) {
      const number = `1444${n}*`
      await rows.phone_numbers.insert({
        account_sid,
        voip_carrier_sid,
        number,
        received_number: number,
        is_pattern: 1,
      })
    }
    const answer = await api.post('/PhoneNumbers', accountKey, body({ number: '1443*', voip_carrier_sid }))
    expect(answer.status).toBe(422)
    expect(answer.body).toMatchObject({ code: 'quota_reached' })
    await create({ voip_carrier_sid })
    await create({ number: '1443*', voip_carrier_sid: sharedCarrier })
  })

  it('answers 422 for a number that its carrier has already, with or without the plus', async () => {
    for (const voip_carrier_sid of [ownCarrier, sharedCarrier, null]) {
      const number = `1666${++made}`
      await create({ number, voip_carrier_sid })
      for (const again of [number, `+${number}`]) {
        const answer = await api.post('/PhoneNumbers', api.own.accountKey, {
          number: again,
          voip_carrier_sid,
        })
        expect(answer.status).toBe(422)
        expect((answer.body as { msg: string }).msg).toContain('number')
      }
    }
  })
})

describe('GET /PhoneNumbers', () => {
  it('lists what the caller may see, by number', async () => {
    const sids = {
      own: await create(),
      sibling: await create({}, api.sibling.accountKey),
      foreign: await create({}, api.foreign.accountKey),
      provider: await create({}, api.own.providerKey),
    }
    const seenBy = async (token: string, path = '/PhoneNumbers'): Promise<string[]> => {
      const listed = (await api.get(path, token)).body as { phone_number_sid: string; number: string }[]
      expect(listed.map(({ number }) => number)).toEqual(listed.map(({ number }) => number).sort())
      const seen = new Set(listed.map(({ phone_number_sid }) => phone_number_sid))
      return Object.entries(sids).flatMap(([name, sid]) => (seen.has(sid) ? [name] : []))
    }
    const { account_sid, service_provider_sid, accountKey, providerKey } = api.own
    expect(await seenBy(accountKey)).toEqual(['own'])
    expect(await seenBy(providerKey)).toEqual(['own', 'sibling', 'provider'])
    expect(await seenBy(api.adminKey)).toEqual(Object.keys(sids))
    expect(await seenBy(api.adminKey, `/PhoneNumbers?account_sid=${account_sid}`)).toEqual(['own'])
    expect(await seenBy(providerKey, `/PhoneNumbers?account_sid=${api.foreign.account_sid}`)).toEqual([])
    const query = `?service_provider_sid=${service_provider_sid}&account_sid=`
    expect(await seenBy(api.adminKey, `/PhoneNumbers${query}`)).toEqual(['own', 'sibling', 'provider'])
    const ofProvider = `/ServiceProviders/${service_provider_sid}/PhoneNumbers`
    expect(await seenBy(api.adminKey, ofProvider)).toEqual(['own', 'sibling', 'provider'])
    expect(await seenBy(accountKey, ofProvider)).toEqual(['own'])
  })

  it('finds by a part of the number, whether or not it is given with its plus, and answers pages', async () => {
    const sid = await create({ number: '+4930555777' })
    for (const filter of ['30555777', '%2B4930555777', '+4930555777'.replace('+', '%2B')]) {
      const found = await api.get(`/PhoneNumbers?filter=${filter}`, api.own.accountKey)
      expect(found.body).toEqual([expect.objectContaining({ phone_number_sid: sid })])
    }
    const page = await api.get('/PhoneNumbers?filter=30555777&page=0&page_size=5', api.own.accountKey)
    expect(page.body).toMatchObject({ total: 1, page: 1, page_size: 5, data: [{ phone_number_sid: sid }] })
  })
})

describe('PUT /PhoneNumbers/{sid}', () => {
  it('changes the application, and takes the full record back, with and without the plus', async () => {
    const number = `+1777${++made}`
    const sid = await create({ number, voip_carrier_sid: ownCarrier })
    const application_sid = await application(api.own.account_sid)
    const path = `/PhoneNumbers/${sid}`
    expect((await api.put(path, api.own.accountKey, { application_sid })).status).toBe(204)
    const record = await read(sid)
    expect(record).toHaveProperty('application_sid', application_sid)
    expect((await api.put(path, api.own.accountKey, record)).status).toBe(204)
    expect((await api.put(path, api.own.accountKey, { ...record, number })).status).toBe(204)
    expect(await read(sid)).toEqual(record)
    expect(await read(sid)).toHaveProperty('received_number', number)
    expect((await api.put(path, api.own.accountKey, { application_sid: null })).status).toBe(204)
    expect(await read(sid)).toHaveProperty('application_sid', null)
  })

  it('answers 400 for another number or carrier, and for an application of another account', async () => {
    const sid = await create({ voip_carrier_sid: ownCarrier })
    const application_sid = await application(api.sibling.account_sid)
    for (const change of [
      { number: '1' },
      { number: null },
      { voip_carrier_sid: sharedCarrier },
      { voip_carrier_sid: null },
      { application_sid },
      { phone_number_sid: createSid() },
    ])
      expect((await api.put(`/PhoneNumbers/${sid}`, api.own.providerKey, change)).status).toBe(400)
  })

  it('gives a number to another account of its provider, with all that it refers to', async () => {
    const { account_sid } = api.sibling
    const application_sid = await application(api.own.account_sid)
    const sid = await create({ voip_carrier_sid: sharedCarrier, application_sid })
    const path = `/PhoneNumbers/${sid}`
    expect((await api.put(path, api.own.accountKey, { account_sid })).status).toBe(403)
    expect((await api.put(path, api.own.providerKey, { account_sid })).status).toBe(400)
    const fitting = { account_sid, application_sid: await application(account_sid) }
    expect((await api.put(path, api.own.providerKey, fitting)).status).toBe(204)
    expect((await api.get(path, api.own.accountKey)).status).toBe(404)
    expect((await api.get(path, api.sibling.accountKey)).status).toBe(200)
    const { account_sid: foreign } = api.foreign
    expect((await api.put(path, api.own.providerKey, { account_sid: foreign })).status).toBe(403)
    expect((await api.put(path, api.adminKey, { account_sid: foreign })).status).toBe(400)
    const bound = await create({ voip_carrier_sid: ownCarrier })
    expect((await api.put(`/PhoneNumbers/${bound}`, api.adminKey, { account_sid })).status).toBe(400)
  })
})

describe('PUT and DELETE /PhoneNumbers/{sid}', () => {
  it('answer 404 alike for a missing and a foreign one, which stays, and 400 for a malformed one', async () => {
    const foreign = await create({}, api.foreign.accountKey)
    for (const [sid, status] of [
      [foreign, 404],
      [createSid(), 404],
      ['nonsense', 400],
    ] as const)
      for (const method of ['GET', 'PUT', 'DELETE'] as const)
        for (const token of [api.own.accountKey, api.own.providerKey])
          expect((await api.request(method, `/PhoneNumbers/${sid}`, token)).status).toBe(status)
    expect(await api.storage.for(systemTenancy).phone_numbers.find(foreign)).toBeDefined()
  })

  it('answers 204, and the number is gone', async () => {
    const sid = await create()
    expect((await api.delete(`/PhoneNumbers/${sid}`, api.own.accountKey)).status).toBe(204)
    expect((await api.get(`/PhoneNumbers/${sid}`, api.adminKey)).status).toBe(404)
  })
})
