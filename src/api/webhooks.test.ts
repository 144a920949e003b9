import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { covers } from '../../test/support/covers.ts'
import { createSid } from '../lib/ids.ts'
import { openTestApi, type TestApi } from '../../test/support/api.ts'

let api: TestApi
beforeAll(async () => {
  api = await openTestApi()
})
afterAll(() => api.close())

async function create(token: string): Promise<string> {
  const answer = await api.post('/Webhooks', token, { url: 'https://a.example.com', method: 'get' })
  expect(answer.status).toBe(201)
  return (answer.body as { sid: string }).sid
}

describe('POST and GET /Webhooks', () => {
  it(
    'makes a webhook of the caller and reads it back with its five keys',
    covers({
      section: 'Not shown',
      says: 'The fields of a webhook record.',
      chosen: '`webhook_sid, url, method, username, password`.',
    }),
    async () => {
      const sid = await create(api.own.accountKey)
      for (const token of [api.own.accountKey, api.own.providerKey, api.adminKey])
        expect((await api.get(`/Webhooks/${sid}`, token)).body).toEqual({
          webhook_sid: sid,
          url: 'https://a.example.com',
          method: 'GET',
          username: null,
          password: null,
        })
    },
  )

  it('answers 404 alike for a missing one and one that is not the caller’s', async () => {
    const ofAccount = await create(api.own.accountKey)
    const ofProvider = await create(api.own.providerKey)
    const ofAdmin = await create(api.adminKey)
    for (const [sid, token] of [
      [ofAccount, api.sibling.accountKey],
      [ofAccount, api.foreign.providerKey],
      [ofProvider, api.own.accountKey],
      [ofAdmin, api.own.providerKey],
      [createSid(), api.own.accountKey],
    ] as const)
      expect((await api.get(`/Webhooks/${sid}`, token)).status).toBe(404)
  })

  it('answers 400 without a url and for one that is not usable', async () => {
    for (const url of [
      undefined,
      '',
      'mailto:a@b.c',
      'https://u:p@a.example.com',
      `https://a/${'x'.repeat(1024)}`,
    ])
      expect((await api.post('/Webhooks', api.own.accountKey, { url })).status).toBe(400)
  })
})
