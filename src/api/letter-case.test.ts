// The letter case of ids has no effect in any place; that of names has.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTestApi, type TestApi } from '../../test/support/api.ts'

let api: TestApi
beforeAll(async () => {
  api = await openTestApi()
})
afterAll(() => api.close())

const hook = { url: 'https://app.example.com/call' }

async function createApplication(account_sid: string): Promise<string> {
  const body = { name: `case ${Math.random()}`, account_sid, call_hook: hook, call_status_hook: hook }
  const answer = await api.post('/Applications', api.own.accountKey, body)
  expect(answer.status).toBe(201)
  return (answer.body as { sid: string }).sid
}

describe('an id in upper case', () => {
  const account = () => api.own.account_sid.toUpperCase()

  it('finds the record and the account in a path', async () => {
    const sid = await createApplication(account())
    for (const path of [`/Applications/${sid}`, `/Accounts/${api.own.account_sid}/Limits`]) {
      const { status, body } = await api.get(path.toUpperCase(), api.own.accountKey)
      expect([status, body]).toEqual([200, (await api.get(path, api.own.accountKey)).body])
    }
    expect((await api.delete(`/Applications/${sid.toUpperCase()}`, api.own.accountKey)).status).toBe(204)
  })

  it('is stored in lower case where a body names it, and changes nothing where it is the same', async () => {
    const application_sid = await createApplication(account())
    const changes = { account_sid: account(), device_calling_application_sid: application_sid.toUpperCase() }
    const path = `/Accounts/${account()}`
    expect((await api.put(path, api.own.accountKey, changes)).status).toBe(204)
    expect((await api.get(path, api.own.accountKey)).body).toMatchObject({
      account_sid: api.own.account_sid,
      device_calling_application_sid: application_sid,
    })
  })

  it('filters a list', async () => {
    const { body } = await api.post('/VoipCarriers', api.own.accountKey, { name: 'case' })
    const { sid } = body as { sid: string }
    await api.post('/SipGateways', api.own.accountKey, { voip_carrier_sid: sid, ipv4: '192.0.2.1' })
    const gateways = await api.get(`/SipGateways?voip_carrier_sid=${sid.toUpperCase()}`, api.own.accountKey)
    expect(gateways.body).toHaveLength(1)
  })

  it('of another account is as foreign as in lower case', async () => {
    const path = `/Accounts/${api.foreign.account_sid.toUpperCase()}`
    expect((await api.get(path, api.own.accountKey)).status).toBe(403)
  })
})

it('a name in a path keeps its letters, also where it looks like an id', async () => {
  const name = api.own.account_sid.toUpperCase()
  const path = `/Accounts/${api.own.account_sid}/RegisteredSipUsers/${name}`
  expect((await api.get(path, api.own.accountKey)).body).toMatchObject({ name })
})
