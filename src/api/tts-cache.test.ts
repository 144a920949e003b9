import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openTestApi, type TestApi } from '../../test/support/api.ts'

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

  it('has each removal of clips in the audit log, whole or of an account', async () => {
    const { account_sid, service_provider_sid, accountKey, providerKey } = api.own
    const entries = async (token: string): Promise<readonly object[]> => {
      const { body } = await api.get('/AuditLog?page=1&count=500&resource=tts_cache', token)
      return (body as { readonly data: readonly object[] }).data
    }
    const before = [(await entries(api.adminKey)).length, (await entries(accountKey)).length] as const
    await api.delete(path(), accountKey)
    await api.delete('/TtsCache', api.adminKey)
    // This request is refused: nothing was removed.
    await api.delete(path(), api.sibling.accountKey)
    await api.delete('/TtsCache', accountKey)
    const ofAccount = { action: 'delete', sid: account_sid, account_sid, service_provider_sid }
    const ofAll = { action: 'delete', sid: '*', account_sid: null, service_provider_sid: null }
    const all = await entries(api.adminKey)
    expect(all.slice(0, all.length - before[0])).toEqual([
      expect.objectContaining({ ...ofAll, actor_kind: 'api_key', address: '127.0.0.1' }),
      expect.objectContaining({ ...ofAccount, actor_kind: 'api_key', address: '127.0.0.1' }),
    ])
    for (const token of [accountKey, providerKey])
      expect((await entries(token)).slice(0, 1)).toEqual([expect.objectContaining(ofAccount)])
    expect(await entries(accountKey)).toHaveLength(before[1] + 1)
    expect(await entries(api.sibling.accountKey)).toEqual([])
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
