// Misspelt fields of bodies over the whole API.
import { afterEach, describe, expect, it } from 'vitest'
import { openTestApi } from '../../test/support/api.ts'
import type { TestApi } from '../../test/support/api.ts'

let api: TestApi
afterEach(() => api.close())

const hook = { url: 'https://app.example.com' }
const application = (more: object) => ({ name: 'menu', call_hook: hook, call_status_hook: hook, ...more })

describe('a body with fields that do not exist', () => {
  it('is taken without them, and the response names each with the nearest that exists', async () => {
    api = await openTestApi()
    const body = application({ call_hok: hook, zzz: 1, ['__odd\r\nx: y']: 2 })
    const answer = await api.post('/Applications', api.own.accountKey, body)
    expect(answer.status).toBe(201)
    expect(answer.headers['x-unknown-fields']).toBe(
      'call_hok (call_hook?), zzz, one whose name has other characters than letters and digits',
    )
  })

  it('is named by ten of them at most, and each by 64 characters', async () => {
    api = await openTestApi()
    const many = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`${n}${'q'.repeat(100)}`, 1]))
    const { headers } = await api.post('/Applications', api.own.accountKey, application(many))
    const names = String(headers['x-unknown-fields']).split(', ')
    expect(names).toHaveLength(11)
    expect(names[0]).toHaveLength(64)
    expect(names.at(-1)).toBe('20 more')
  })

  it('has no such header where all of its fields exist, those that cannot be set included', async () => {
    api = await openTestApi()
    const made = await api.post('/Applications', api.own.accountKey, application({}))
    expect(made.headers['x-unknown-fields']).toBeUndefined()
    const path = `/Applications/${(made.body as { readonly sid: string }).sid}`
    const record = (await api.get(path, api.own.accountKey)).body as object
    const changed = await api.request('PUT', path, api.own.accountKey, { body: record })
    expect([changed.status, changed.headers['x-unknown-fields']]).toEqual([204, undefined])
  })

  it('is refused where the operator wants that, and changes nothing', async () => {
    api = await openTestApi({ rules: { refusesUnknownFields: true } })
    const answer = await api.post('/Applications', api.own.accountKey, application({ call_hok: hook }))
    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({ msg: 'the body has unknown fields: call_hok (call_hook?)' })
    expect((await api.get('/Applications', api.own.accountKey)).body).toEqual([])
  })
})
