import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTestApi, type TestApi } from '../../test/support/api.ts'
import { apiRoutes } from './index.ts'

let api: TestApi
beforeAll(async () => {
  api = await openTestApi()
})
afterAll(() => api.close())

/** The paths that the interface lists with 404, and users with 403 where it lists that. */
const notFound = new Set([
  '/Accounts/{AccountSid}',
  '/Accounts/{AccountSid}/WebhookSecret',
  '/Accounts/{AccountSid}/Limits',
  '/Accounts/{AccountSid}/RecentCalls',
  '/Applications/{ApplicationSid}',
  '/Clients/{ClientSid}',
  '/MicrosoftTeamsTenants/{TenantSid}',
  '/ServiceProviders/{ServiceProviderSid}/SpeechCredentials/{SpeechCredentialSid}/test',
  '/Users/{UserSid}',
  '/Webhooks/{WebhookSid}',
])
const isForbidden = (method: string, path: string): boolean =>
  path === '/Users/{UserSid}' && method !== 'DELETE'

function expected(method: string, path: string): number {
  if (isForbidden(method, path)) return 403
  return notFound.has(path) ? 404 : 400
}

const cases = apiRoutes.flatMap(({ method, path }) =>
  Array.from(path.matchAll(/\{(\w+Sid)\}/g), ([, parameter = '']) => ({ method, path, parameter })),
)

function urlOf(path: string, parameter: string, value: string): string {
  const { account_sid, service_provider_sid } = api.own
  const known: Readonly<Record<string, string>> = {
    AccountSid: account_sid,
    ServiceProviderSid: service_provider_sid,
    [parameter]: value,
  }
  return path.replaceAll(
    /\{(\w+)\}/g,
    (_, name: string) => known[name] ?? (name.endsWith('Sid') ? account_sid : 'x'),
  )
}

async function statusOf(method: (typeof cases)[number]['method'], url: string): Promise<number> {
  return (await api.request(method, url, api.adminKey, { body: {} })).status
}

describe('an id in a path that is none', () => {
  it.each(cases)('$method $path, $parameter: 404 where the interface lists it, else 400', async (given) => {
    const { method, path, parameter } = given
    for (const wrong of ['invalid', '5f0c4e9a-2f3b-4c55-9d0e-7b1a3c2d4e5', '%20', "'%22;--"])
      expect(await statusOf(method, urlOf(path, parameter, wrong)), wrong).toBe(expected(method, path))
  })

  // A path without its last id is that of the list. Where a method is not one of the list, only the id is missing.
  const lastOf = ({ path, parameter }: { path: string; parameter: string }) =>
    path.endsWith(`/{${parameter}}`)
  const isTaken = ({ method, path }: { method: string; path: string }) =>
    apiRoutes.some((route) => route.method === method && route.path === path.replace(/\/\{\w+\}$/, ''))
  it.each(cases.filter((one) => lastOf(one) && !isTaken(one)))(
    '$method $path, $parameter: the same if it is empty',
    async ({ method, path, parameter }) => {
      const url = urlOf(path, parameter, '')
      expect(await statusOf(method, url)).toBe(expected(method, path))
      expect(await statusOf(method, `${url}?x=1`)).toBe(expected(method, path))
      // Without the slash it is another path.
      expect([404, 405]).toContain(await statusOf(method, url.slice(0, -1)))
    },
  )

  it('is the same in the middle of a path', async () => {
    expect(await statusOf('POST', '/Accounts//Limits')).toBe(404)
    expect(await statusOf('POST', '/Accounts//Calls')).toBe(400)
    expect(await statusOf('POST', '/VoipCarriers//Test')).toBe(400)
  })
})
