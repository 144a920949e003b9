import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTestApi, type TestApi } from '../../../test/support/api.ts'
import type { LiveConference } from '../../calls/calls.ts'

let api: TestApi
beforeAll(async () => {
  api = await openTestApi()
})
afterAll(() => api.close())

const conference = (name: string): LiveConference => ({
  name,
  conference_sid: `conf:${api.own.account_sid}:${name}`,
  has_started: true,
  participants: [
    {
      call_sid: '0193-1',
      from: '100',
      to: '200',
      is_moderator: true,
      is_muted: false,
      is_on_hold: false,
      member_tag: 'agent',
    },
  ],
})

describe('GET /Accounts/{sid}/Conferences', () => {
  it('answers the names of those of the account, and with expand who takes part', async () => {
    api.conferences.set(api.own.account_sid, [conference('team'), conference('a "quoted" one')])
    api.conferences.set(api.sibling.account_sid, [conference('other')])
    const path = `/Accounts/${api.own.account_sid}/Conferences`
    const names = await api.get(path, api.own.accountKey)
    expect([names.status, names.body]).toEqual([200, ['team', 'a "quoted" one']])
    for (const key of [api.own.accountKey, api.own.providerKey, api.adminKey])
      expect((await api.get(`${path}?expand=participants`, key)).body).toEqual([
        conference('team'),
        conference('a "quoted" one'),
      ])
    expect((await api.get(`${path}?expand=all`, api.own.accountKey)).status).toBe(400)
  })

  it('is refused to other accounts and to strangers', async () => {
    const path = `/Accounts/${api.own.account_sid}/Conferences`
    expect((await api.get(path, api.sibling.accountKey)).status).toBe(403)
    expect((await api.get(path, api.foreign.providerKey)).status).toBe(403)
    expect((await api.get(path)).status).toBe(401)
  })

  it('is empty where there is none', async () => {
    const path = `/Accounts/${api.foreign.account_sid}/Conferences`
    expect((await api.get(path, api.foreign.accountKey)).body).toEqual([])
  })
})

describe('/Accounts/{sid}/Conferences/{name}/listen', () => {
  it.each(['GET', 'POST', 'DELETE'] as const)(
    'is refused by name to %s: it is not served yet',
    async (method) => {
      const path = `/Accounts/${api.own.account_sid}/Conferences/team/listen`
      const answer = await api.request(method, path, api.own.accountKey)
      expect([answer.status, answer.body]).toMatchObject([
        400,
        { code: 'not_served', msg: 'listen of a conference is not served yet', cure: expect.any(String) },
      ])
      expect((await api.request(method, path)).status).toBe(401)
    },
  )
})
