import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { covers } from '../../test/support/covers.ts'
import { systemTenancy } from '../contracts/caller.ts'
import { openTestApi, type TestApi } from '../../test/support/api.ts'
import { createUser } from '../../test/support/api-tenants.ts'

let api: TestApi
beforeAll(async () => {
  api = await openTestApi()
})
afterAll(() => api.close())

const ask = (query: string, token = api.own.accountKey) => api.get(`/Availability${query}`, token)

describe('GET /Availability', () => {
  it(
    'tells an address, a phone number and a realm that are taken, by whomever, from free ones',
    covers({
      section: 'Fields: Availability result',
      says: '`available` is true when nobody has the value.',
    }),
    async () => {
      const name = await createUser(api.storage)
      const rows = api.storage.for(systemTenancy)
      const [user] = await rows.users.list({ where: { name } })
      await rows.users.update(user!.user_sid, { phone: '+15551234567' })
      for (const [query, available] of [
        [`?type=email&value=${name}@example.com`, false],
        [`?type=email&value=${name.toUpperCase()}@EXAMPLE.com`, false],
        [`?type=email&value=${name}@example.co`, true],
        ['?type=email&value=%25', true],
        ['?type=phone&value=%2B15551234567', false],
        ['?type=phone&value=15551234567', true],
        [`?type=subdomain&value=${api.foreign.realm}`, false],
        [`?type=subdomain&value=${api.foreign.realm.toUpperCase()}`, false],
        ['?type=subdomain&value=foreign', true],
      ] as const) {
        for (const token of [api.own.accountKey, api.own.providerKey, api.adminKey]) {
          const answer = await ask(query, token)
          expect([query, answer.status, answer.body]).toEqual([query, 200, { available }])
        }
      }
    },
  )

  it('finds an address with a plus, encoded or not', async () => {
    const name = await createUser(api.storage)
    const rows = api.storage.for(systemTenancy)
    const [user] = await rows.users.list({ where: { name } })
    await rows.users.update(user!.user_sid, { email: `${name}+sip+test@example.com` })
    for (const plus of ['+', '%2B']) {
      const answer = await ask(`?type=email&value=${name}${plus}sip${plus}test@example.com`)
      expect(answer.body).toEqual({ available: false })
    }
  })

  it.each([
    ['', 'type and value are required'],
    ['?value=a', 'type is required'],
    ['?type=email', 'value is required'],
    ['?type=email&value=', 'value is required'],
    ['?type=color&value=a', 'type must be one of'],
    ['?type=email&value=a&value=b', 'value must be text'],
  ])('answers 400 naming the parameter for %j', async (query, msg) => {
    const answer = await ask(query)
    expect([answer.status, answer.body]).toEqual([
      400,
      expect.objectContaining({ msg: expect.stringContaining(msg) }),
    ])
  })
})
