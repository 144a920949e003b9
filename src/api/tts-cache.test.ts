import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openTestApi } from '../../test/support/api.ts'
import type { TestApi } from '../../test/support/api.ts'

let api: TestApi
beforeAll(async () => {
  api = await openTestApi()
})
afterAll(() => api.close())
beforeEach(() => {
  const { own, sibling } = api
  api.clips.splice(0, api.clips.length, own.account_sid, own.account_sid, sibling.account_sid)
})

const path = () => `/Accounts/${api.own.account_sid}/TtsCache`

describe('TtsCache', () => {
  it('tells an administrator its size, and is cleared', async () => {
    expect((await api.get('/TtsCache', api.adminKey)).body).toEqual({ size: 3 })
    const answer = await api.delete('/TtsCache', api.adminKey)
    expect([answer.status, answer.text]).toEqual([204, ''])
    expect((await api.get('/TtsCache', api.adminKey)).body).toEqual({ size: 0 })
    for (const token of [api.own.providerKey, api.own.accountKey]) {
      expect((await api.get('/TtsCache', token)).status).toBe(403)
      expect((await api.delete('/TtsCache', token)).status).toBe(403)
    }
  })

  it('of an account is its own', async () => {
    for (const token of [api.adminKey, api.own.providerKey, api.own.accountKey])
      expect((await api.get(path(), token)).body).toEqual({ size: 2 })
    expect((await api.delete(path(), api.own.accountKey)).status).toBe(204)
    expect((await api.get(path(), api.own.accountKey)).body).toEqual({ size: 0 })
    expect((await api.get('/TtsCache', api.adminKey)).body).toEqual({ size: 1 })
    expect((await api.delete(path(), api.sibling.accountKey)).status).toBe(403)
  })
})
