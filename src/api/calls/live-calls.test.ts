import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { covers } from '../../../test/support/covers.ts'
import type { LiveCall } from '../../calls/calls.ts'
import { createSid } from '../../lib/ids.ts'
import { openTestApi, type TestApi } from '../../../test/support/api.ts'

let api: TestApi
beforeAll(async () => {
  api = await openTestApi()
})
beforeEach(() => {
  api.calls.length = 0
  api.hungUp.length = 0
})
afterAll(() => api.close())

function addCall(more: Partial<LiveCall> = {}): LiveCall {
  const call: LiveCall = {
    account_sid: api.own.account_sid,
    service_provider_sid: api.own.service_provider_sid,
    call_sid: createSid(),
    call_id: 'a@b',
    sbc_callid: 'a@b',
    call_status: 'in-progress',
    direction: 'inbound',
    from: '+4930123',
    to: '100',
    caller_name: '',
    service_url: 'http://127.0.0.1:3000/v1',
    sip_status: 200,
    sip_reason: 'OK',
    trace_id: '0'.repeat(32),
    local_sip_address: '127.0.0.1:5060',
    fs_sip_address: '127.0.0.1:5060',
    ...more,
  }
  api.calls.push(call)
  return call
}

const path = () => `/Accounts/${api.own.account_sid}`

describe('GET /Accounts/{sid}/Calls', () => {
  it('answers the account’s live calls with every field that is known, and no others', async () => {
    const call = addCall({ application_sid: createSid() })
    addCall({ account_sid: api.sibling.account_sid })
    const answer = await api.get(`${path()}/Calls`, api.own.accountKey)
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual([call])
  })

  it(
    'combines exact filters with AND',
    covers({
      section: 'Endpoints: Live calls',
      says: '`direction`, `from`, `to` and `callStatus` filter the list.',
    }),
    async () => {
      const wanted = addCall({ call_status: 'ringing', from: '+1 2' })
      addCall({ call_status: 'ringing', direction: 'outbound' })
      addCall()
      const found = async (query: string): Promise<number> =>
        ((await api.get(`${path()}/Calls?${query}`, api.own.accountKey)).body as unknown[]).length
      expect(await found('callStatus=ringing')).toBe(2)
      expect(await found('callStatus=ringing&direction=INBOUND')).toBe(1)
      expect(await found(`from=${encodeURIComponent(wanted.from)}`)).toBe(1)
      expect(await found('to=10')).toBe(0)
      expect(await found('unknown=1')).toBe(3)
    },
  )

  it('finds a number by its plus, encoded or not', async () => {
    const wanted = addCall({ from: '+4930777', to: '+15550100' })
    addCall({ from: '4930777' })
    for (const query of ['from=+4930777', 'from=%2B4930777&to=+15550100'])
      expect((await api.get(`${path()}/Calls?${query}`, api.own.accountKey)).body).toEqual([wanted])
  })

  it('answers 400 for a status or direction that does not exist', async () => {
    for (const query of ['callStatus=alerting', 'direction=up'])
      expect((await api.get(`${path()}/Calls?${query}`, api.own.accountKey)).status).toBe(400)
  })

  it('answers 403 for another account, 404 to an administrator for none', async () => {
    expect((await api.get(`${path()}/Calls`, api.sibling.accountKey)).status).toBe(403)
    expect((await api.get(`/Accounts/${createSid()}/Calls`, api.adminKey)).status).toBe(404)
  })
})

describe('GET and DELETE /Accounts/{sid}/Calls/{call_sid}', () => {
  it('answers one call with every field that is known, and hangs it up with 204', async () => {
    const call = addCall({
      call_status: 'completed',
      duration: 3,
      parent_call_sid: createSid(),
      caller_id: '+4930123',
      call_termination_by: 'caller',
      customerData: { orderId: 7, items: ['a'] },
    })
    const { call_sid } = call
    expect((await api.get(`${path()}/Calls/${call_sid}`, api.own.accountKey)).body).toEqual(call)
    const answer = await api.delete(`${path()}/Calls/${call_sid}`, api.own.accountKey)
    expect(answer.status).toBe(204)
    expect(api.hungUp).toEqual([call_sid])
  })

  it('answers 404 for a missing call and for one of another account, which goes on', async () => {
    const { call_sid } = addCall({ account_sid: api.sibling.account_sid })
    for (const sid of [createSid(), call_sid]) {
      expect((await api.get(`${path()}/Calls/${sid}`, api.own.accountKey)).status).toBe(404)
      expect((await api.delete(`${path()}/Calls/${sid}`, api.own.accountKey)).status).toBe(404)
    }
    const foreign = `/Accounts/${api.sibling.account_sid}/Calls/${call_sid}`
    expect((await api.delete(foreign, api.own.accountKey)).status).toBe(403)
    expect(api.hungUp).toEqual([])
  })
})

describe('GET /Accounts/{sid}/CallCount', () => {
  it(
    'counts by direction, 0 when there are none',
    covers(
      { section: 'Endpoints: Live calls', says: 'CallCount answers the calls by direction.' },
      { section: 'Limits', says: 'CallCount tells the number of active calls.' },
    ),
    async () => {
      const count = async () => (await api.get(`${path()}/CallCount`, api.own.accountKey)).body
      expect(await count()).toEqual({ inbound: 0, outbound: 0 })
      addCall()
      addCall()
      addCall({ direction: 'outbound' })
      addCall({ account_sid: api.sibling.account_sid })
      expect(await count()).toEqual({ inbound: 2, outbound: 1 })
    },
  )

  it('answers 400 for an account that is no UUID, 403 for a foreign one', async () => {
    expect((await api.get('/Accounts/x/CallCount', api.own.accountKey)).status).toBe(400)
    expect((await api.get(`${path()}/CallCount`, api.foreign.providerKey)).status).toBe(403)
  })
})
