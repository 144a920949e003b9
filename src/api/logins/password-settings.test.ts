import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTestApi, type TestApi } from '../../../test/support/api.ts'
import { policyFault } from './passwords.ts'

let api: TestApi
beforeAll(async () => {
  api = await openTestApi()
})
afterAll(() => api.close())

let made = 0
const user = (initial_password: string) => ({
  name: `user ${++made}`,
  email: `user${made}@example.com`,
  is_active: 1,
  force_change: 0,
  is_view_only: false,
  initial_password,
})

describe('PasswordSettings', () => {
  it('say only the length as long as none are set, to everybody', async () => {
    for (const token of [api.adminKey, api.own.providerKey, api.own.accountKey]) {
      const answer = await api.get('/PasswordSettings', token)
      expect([answer.status, answer.body]).toEqual([200, { min_password_length: 8 }])
    }
  })

  it('answer 403 to a caller that is no administrator', async () => {
    for (const token of [api.own.providerKey, api.own.accountKey])
      expect((await api.post('/PasswordSettings', token, { require_digit: 1 })).status).toBe(403)
  })

  it.each([
    [{ min_password_length: 7 }, 'min_password_length must be at least 8'],
    [{ min_password_length: 21 }, 'min_password_length must be at most 20'],
    [{ min_password_length: 9.5 }, 'min_password_length must be a whole number'],
    [{ require_digit: 2 }, 'require_digit must be one of'],
    [{ require_special_character: 'yes' }, 'require_special_character must be'],
  ])('answer 400 naming the field for %j', async (body, msg) => {
    const answer = await api.post('/PasswordSettings', api.adminKey, body)
    expect([answer.status, answer.body]).toEqual([
      400,
      expect.objectContaining({ msg: expect.stringContaining(msg) }),
    ])
  })

  it('keep what is left out, and bind the next password', async () => {
    const set = async (body: object) => {
      const answer = await api.post('/PasswordSettings', api.adminKey, body)
      expect([answer.status, answer.body]).toEqual([201, {}])
    }
    await set({ min_password_length: 10, require_digit: true })
    await set({ require_special_character: '1', min_password_length: null })
    expect((await api.get('/PasswordSettings', api.own.accountKey)).body).toEqual({
      min_password_length: 10,
      require_digit: 1,
      require_special_character: 1,
    })
    for (const [given, msg] of [
      ['short', 'must have at least 10 characters'],
      ['without digits!', 'must have a digit'],
      ['without special 1', 'must have a special character'],
    ] as const) {
      const answer = await api.post('/Users', api.adminKey, user(given))
      expect([answer.status, answer.body]).toEqual([
        403,
        expect.objectContaining({ msg: `initial_password ${msg}` }),
      ])
    }
    // Once the rules are set, only the body bounds the length of a password.
    const answer = await api.post('/Users', api.adminKey, user(`1!${'long '.repeat(50)}`))
    expect(answer.status).toBe(200)
  })
})

describe('the policy', () => {
  it('counts characters as people do', () => {
    expect(policyFault('💧'.repeat(7), undefined)).toBeDefined()
    expect(policyFault('💧'.repeat(8), undefined)).toBeUndefined()
    expect(policyFault('💧'.repeat(20), undefined)).toBeUndefined()
  })
})
