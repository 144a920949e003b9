// Every field of every body and query, given what it is not: a refusal that names it, and never a failure of the platform.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTestApi } from '../../test/support/api.ts'
import type { TestApi } from '../../test/support/api.ts'
import type { AnyField } from './define/field.ts'
import type { ApiRoute } from './define/route.ts'
import { apiRoutes } from './index.ts'

let api: TestApi
const records: Record<string, string> = {}
beforeAll(async () => {
  api = await openTestApi()
  const hook = { url: 'https://a.example.com' }
  const { account_sid } = api.own
  const made = {
    ApplicationSid: await api.post('/Applications', api.adminKey, {
      name: 'a',
      account_sid,
      call_hook: hook,
      call_status_hook: hook,
    }),
    ClientSid: await api.post('/Clients', api.adminKey, { account_sid, username: 'u', password: 'secret' }),
  }
  for (const [name, { body }] of Object.entries(made)) records[name] = (body as { sid: string }).sid
  records['AccountSid'] = account_sid
})
afterAll(() => api.close())

// Each is wrong for at least one kind of field; where it is right by chance, it is right.
const strange: readonly unknown[] = [
  null,
  true,
  -1,
  0.5,
  1e308,
  '',
  ' ',
  'a\r\nInjected: yes',
  '\u0000',
  'x'.repeat(300_000),
  '5f0c4e9a-2f3b-4c55-9d0e-7b1a3c2d4e5f',
  '12',
  '2026-13-45T99:99:99Z',
  '\ud800',
  [],
  ['a'],
  [[]],
  {},
  { url: 5 },
  { url: 'https://a.example.com', method: 'PATCH' },
  { url: 'https://a.example.com', password: 'a\r\nb' },
  { vendor: 'google', name: 'b', service_key: '{' },
  { vendor: 'google', name: 'b', service_key: '{"private_key":5}' },
  { constructor: 1, toString: 2 },
]

const withBody = apiRoutes.filter(({ body, path }) => body !== undefined && path !== '/login')

function pathOf({ path }: ApiRoute): string {
  return path.replace(/\{(\w+)\}/g, (_all, name: string) => records[name] ?? 'none')
}

function isTaken([, { facts }]: [string, AnyField]): boolean {
  return facts.presence !== 'read-only'
}

describe.each(withBody.map((route) => [`${route.method} ${route.path}`, route] as const))(
  '%s',
  (_title, route) => {
    it('refuses what a field cannot be, naming it, and fails at nothing', async () => {
      for (const [name] of Object.entries(route.body ?? {}).filter(isTaken)) {
        for (const value of strange) {
          const body = route.bodyIs === name ? value : { [name]: value }
          const payload = body === undefined ? undefined : JSON.stringify(body)
          const { status, body: answer } = await api.request(route.method, pathOf(route), api.adminKey, {
            body: payload,
          })
          const shown = `${name}: ${JSON.stringify(value)?.slice(0, 60)} -> ${JSON.stringify(answer)}`
          expect(status, shown).toBeLessThan(500)
          if (status < 400) continue
          expect(answer, shown).toHaveProperty('msg', expect.any(String))
          expect(JSON.stringify(answer), shown).not.toMatch(/SQL|constraint|undefined|\[object/i)
          expect(JSON.stringify(answer).length, shown).toBeLessThan(1000)
        }
      }
    })

    it('refuses a body that is no object', async () => {
      if (route.bodyIs !== undefined) return
      // Users have one status for whatever is wrong with them.
      const status = route.errors?.includes('user_refused') ? 403 : 400
      for (const body of ['[]', '"text"', '5', 'true', '[{}]'])
        expect((await api.request(route.method, pathOf(route), api.adminKey, { body })).status).toBe(status)
    })
  },
)

const withQuery = apiRoutes.filter(({ query }) => query !== undefined)
describe.each(withQuery.map((route) => [`${route.method} ${route.path}`, route] as const))(
  '%s',
  (_title, route) => {
    it('refuses what a query parameter cannot be, and fails at nothing', async () => {
      for (const name of Object.keys(route.query ?? {})) {
        for (const value of [
          '',
          '-1',
          '1e9',
          '99999999999999999999',
          '%00',
          '%0d%0a',
          'x'.repeat(5000),
          '%25',
          "'",
        ]) {
          const rest = name === 'page' || name === 'count' ? '' : '&page=1&count=1'
          for (const query of [`${name}=${value}${rest}`, `${name}=a&${name}=b${rest}`]) {
            const { status, text } = await api.get(`${pathOf(route)}?${query}`, api.adminKey)
            expect(status, `${query.slice(0, 80)} -> ${text.slice(0, 200)}`).toBeLessThan(500)
          }
        }
      }
    })
  },
)
