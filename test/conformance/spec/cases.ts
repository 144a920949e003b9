// How each status in the spec's endpoint tables is reached. 500 has a test of its own: it is the same for all.
import type { ApiAnswer, TestApi } from '../../support/api.ts'
import { createSid } from '../../../src/lib/ids.ts'
import type { ValidInput } from '../api/valid-input.ts'
import { makeCall } from '../api/valid-input.ts'

export interface CaseContext {
  readonly api: TestApi
  readonly input: ValidInput
}

export type Case = (context: CaseContext) => Promise<ApiAnswer>
type Cases = Readonly<Record<string, Readonly<Record<number, Case>>>>

let made = 0
const hook = { url: 'https://app.example.com/call' }

const account = ({ api }: CaseContext): string => `/Accounts/${api.own.account_sid}`
const missing = (path: string): string => `${path}/${createSid()}`
const key = ({ api }: CaseContext): string => api.adminKey

const get =
  (path: (context: CaseContext) => string | Promise<string>): Case =>
  async (context) =>
    context.api.get(await path(context), key(context))

const remove =
  (path: (context: CaseContext) => string | Promise<string>): Case =>
  async (context) =>
    context.api.delete(await path(context), key(context))

type Body = object | undefined
const send =
  (method: 'POST' | 'PUT') =>
  (
    path: (context: CaseContext) => string | Promise<string>,
    body?: (context: CaseContext) => Body | Promise<Body>,
  ): Case =>
  async (context) => {
    const url = await path(context)
    return context.api.request(method, url, key(context), { body: await body?.(context) })
  }
const post = send('POST')
const put = send('PUT')

/** A record of `own`, made for the case. */
const fresh =
  (name: string, collection: string) =>
  async ({ input, api }: CaseContext): Promise<string> =>
    `${collection}/${await input.id({ name, collection }, api.own, true)}`

const user = fresh('UserSid', '/Users')
const tenant = fresh('TenantSid', '/MicrosoftTeamsTenants')
const newAccount = fresh('AccountSid', '/Accounts')
const client = fresh('ClientSid', '/Clients')
const webhook = fresh('WebhookSid', '/Webhooks')
const application = fresh('ApplicationSid', '/Applications')

const userBody = ({ api }: CaseContext): object => ({
  name: `spec${++made}`,
  email: `spec${made}@example.com`,
  is_active: true,
  force_change: false,
  initial_password: 'Correct-horse-7',
  is_view_only: false,
  account_sid: api.own.account_sid,
  service_provider_sid: api.own.service_provider_sid,
})
const tenantBody = ({ api }: CaseContext): object => ({
  service_provider_sid: api.own.service_provider_sid,
  tenant_fqdn: `spec${++made}.teams.example.com`,
})
const accountBody = ({ api }: CaseContext): object => ({
  name: `spec ${++made}`,
  service_provider_sid: api.own.service_provider_sid,
  sip_realm: `spec${made}.sip.example.com`,
  registration_hook: hook,
  queue_event_hook: hook,
})
const applicationBody = ({ api }: CaseContext): object => ({
  name: `spec ${++made}`,
  account_sid: api.own.account_sid,
  call_hook: hook,
  call_status_hook: hook,
  messaging_hook: hook,
  app_json: '[{"verb":"pause","length":1}]',
  speech_synthesis_vendor: 'google',
  speech_synthesis_voice: 'en-US-Standard-C',
  speech_recognizer_vendor: 'google',
  speech_recognizer_language: 'en-US',
  env_vars: { greeting: 'Hello' },
})
const clientBody = ({ api }: CaseContext): object => ({
  account_sid: api.own.account_sid,
  username: `spec${++made}`,
  password: 'sip-secret-1',
})
const flags = {
  is_active: 1,
  allow_direct_app_calling: 1,
  allow_direct_queue_calling: 0,
  allow_direct_user_calling: 1,
}

async function nameOfAnother(context: CaseContext): Promise<object> {
  const body = applicationBody(context) as { name: string }
  await context.api.post('/Applications', key(context), body)
  return { name: body.name }
}

export const cases: Cases = {
  'POST /Users': {
    200: post(() => '/Users', userBody),
    403: post(
      () => '/Users',
      (context) => ({ ...userBody(context), name: undefined }),
    ),
  },
  'GET /Users/{UserSid}': { 200: get(user), 403: get(() => missing('/Users')) },
  'PUT /Users/{UserSid}': {
    204: put(user, () => ({ name: `renamed${++made}` })),
    403: put(user, () => ({ name: 5 })),
  },
  'DELETE /Users/{UserSid}': {
    204: remove(user),
    403: async ({ api, input }) => {
      const { account_sid, service_provider_sid } = api.own
      const viewer = await api.logIn({ account_sid, service_provider_sid, permissions: ['VIEW_ONLY'] })
      return api.delete(await user({ api, input }), viewer)
    },
    404: remove(() => missing('/Users')),
  },
  'GET /MicrosoftTeamsTenants': {
    200: async (context) => {
      await tenant(context)
      return context.api.get('/MicrosoftTeamsTenants', key(context))
    },
  },
  'POST /MicrosoftTeamsTenants': {
    201: post(() => '/MicrosoftTeamsTenants', tenantBody),
    400: post(
      () => '/MicrosoftTeamsTenants',
      (context) => ({ ...tenantBody(context), tenant_fqdn: undefined }),
    ),
  },
  'GET /MicrosoftTeamsTenants/{TenantSid}': {
    200: get(tenant),
    404: get(() => missing('/MicrosoftTeamsTenants')),
  },
  'PUT /MicrosoftTeamsTenants/{TenantSid}': {
    204: put(tenant, () => ({ tenant_fqdn: `moved${++made}.teams.example.com` })),
    404: put(
      () => missing('/MicrosoftTeamsTenants'),
      () => ({}),
    ),
    422: put(tenant, async (context) => {
      const body = tenantBody(context)
      await context.api.post('/MicrosoftTeamsTenants', key(context), body)
      return { tenant_fqdn: (body as { tenant_fqdn: string }).tenant_fqdn }
    }),
  },
  'DELETE /MicrosoftTeamsTenants/{TenantSid}': {
    204: remove(tenant),
    404: remove(() => missing('/MicrosoftTeamsTenants')),
  },
  'GET /Availability': { 200: get(() => '/Availability?type=email&value=unknown@example.com') },
  'GET /Accounts': { 200: get(() => '/Accounts') },
  'POST /Accounts': {
    201: post(() => '/Accounts', accountBody),
    400: post(
      () => '/Accounts',
      (context) => ({ ...accountBody(context), name: undefined }),
    ),
    422: post(
      () => '/Accounts',
      (context) => ({ ...accountBody(context), sip_realm: context.api.own.realm }),
    ),
  },
  'GET /Accounts/{AccountSid}': {
    200: async (context) => {
      const added = await context.api.post('/Accounts', key(context), accountBody(context))
      return context.api.get(`/Accounts/${(added.body as { sid: string }).sid}`, key(context))
    },
    404: get(() => missing('/Accounts')),
  },
  'PUT /Accounts/{AccountSid}': {
    // The full record, as it was read.
    204: put(account, async (context) => (await context.api.get(account(context), key(context))).body),
    404: put(
      () => missing('/Accounts'),
      () => ({}),
    ),
    422: put(account, ({ api }) => ({ sip_realm: api.sibling.realm })),
  },
  'DELETE /Accounts/{AccountSid}': { 204: remove(newAccount), 404: remove(() => missing('/Accounts')) },
  'GET /Accounts/{AccountSid}/WebhookSecret': {
    200: get((context) => `${account(context)}/WebhookSecret`),
    404: get(() => `${missing('/Accounts')}/WebhookSecret`),
  },
  'POST /Accounts/{AccountSid}/SipRealms/{SipRealm}': {
    204: post(async (context) => `${await newAccount(context)}/SipRealms/spec${++made}.sip.example.com`),
    400: post((context) => `${account(context)}/SipRealms/localhost`),
  },
  'GET /Accounts/{AccountSid}/Limits': {
    200: async (context) => {
      const limit = { category: 'voice_call_session', quantity: 1000 }
      await context.api.post(`${account(context)}/Limits`, key(context), limit)
      return context.api.get(`${account(context)}/Limits`, key(context))
    },
    404: get(() => `${missing('/Accounts')}/Limits`),
  },
  'POST /Accounts/{AccountSid}/Limits': {
    201: post(
      (context) => `${account(context)}/Limits`,
      () => ({ category: 'device', quantity: 1000 }),
    ),
    404: post(
      () => `${missing('/Accounts')}/Limits`,
      () => ({ category: 'device', quantity: 10 }),
    ),
  },
  'GET /Accounts/{AccountSid}/RecentCalls': {
    200: async (context) => {
      await writeRecentCall(context)
      return context.api.get(`${account(context)}/RecentCalls?page=1&count=25`, key(context))
    },
    404: get(() => `${missing('/Accounts')}/RecentCalls?page=1&count=25`),
  },
  'GET /Accounts/{AccountSid}/Calls': {
    200: async (context) => {
      makeCall(context.api, context.api.own)
      return context.api.get(`${account(context)}/Calls`, key(context))
    },
  },
  'GET /Accounts/{AccountSid}/CallCount': {
    200: get((context) => `${account(context)}/CallCount`),
    400: get(() => '/Accounts/none/CallCount'),
  },
  'GET /ApiKeys': { 200: get(() => '/ApiKeys') },
  'POST /ApiKeys': {
    200: post(
      () => '/ApiKeys',
      ({ api }) => ({ account_sid: api.own.account_sid }),
    ),
    404: post(
      () => '/ApiKeys',
      () => ({ account_sid: createSid() }),
    ),
  },
  'GET /Accounts/{AccountSid}/RegisteredSipUsers': {
    200: async (context) => {
      registerPhone(context)
      return context.api.get(`${account(context)}/RegisteredSipUsers`, key(context))
    },
  },
  'POST /Accounts/{AccountSid}/RegisteredSipUsers': {
    200: post(
      (context) => `${account(context)}/RegisteredSipUsers`,
      () => ['reception', 'unknown'],
    ),
  },
  'GET /Accounts/{AccountSid}/RegisteredSipUsers/{Client}': {
    200: get((context) => `${account(context)}/RegisteredSipUsers/reception`),
  },
  'GET /Clients': {
    200: async (context) => {
      await client(context)
      return context.api.get('/Clients', key(context))
    },
  },
  'POST /Clients': {
    201: post(() => '/Clients', clientBody),
    400: post(
      () => '/Clients',
      (context) => ({ ...clientBody(context), password: undefined }),
    ),
  },
  'GET /Clients/{ClientSid}': { 200: get(client) },
  'PUT /Clients/{ClientSid}': {
    204: put(client, () => flags),
    404: put(
      () => missing('/Clients'),
      () => flags,
    ),
  },
  'DELETE /Clients/{ClientSid}': { 204: remove(client), 404: remove(() => missing('/Clients')) },
  'GET /Webhooks/{WebhookSid}': { 200: get(webhook), 404: get(() => missing('/Webhooks')) },
  'GET /Applications': {
    200: async (context) => {
      await context.api.post('/Applications', key(context), applicationBody(context))
      return context.api.get('/Applications', key(context))
    },
  },
  'POST /Applications': {
    201: post(() => '/Applications', applicationBody),
    400: post(
      () => '/Applications',
      (context) => ({ ...applicationBody(context), call_hook: undefined }),
    ),
    422: post(
      () => '/Applications',
      async (context) => ({
        ...applicationBody(context),
        ...(await nameOfAnother(context)),
      }),
    ),
  },
  'GET /Applications/{ApplicationSid}': {
    200: async (context) => {
      const added = await context.api.post('/Applications', key(context), applicationBody(context))
      return context.api.get(`/Applications/${(added.body as { sid: string }).sid}`, key(context))
    },
    404: get(() => missing('/Applications')),
  },
  'PUT /Applications/{ApplicationSid}': {
    // The full record, as it was read.
    204: async (context) => {
      const path = await application(context)
      const { body } = await context.api.get(path, key(context))
      return context.api.put(path, key(context), body)
    },
    404: put(
      () => missing('/Applications'),
      () => ({}),
    ),
    422: put(application, nameOfAnother),
  },
  'DELETE /Applications/{ApplicationSid}': {
    204: remove(application),
    404: remove(() => missing('/Applications')),
    422: async (context) => {
      const path = await application(context)
      const device_calling_application_sid = path.split('/').at(-1)
      await context.api.put(account(context), key(context), { device_calling_application_sid })
      return context.api.delete(path, key(context))
    },
  },
  // What the two applications publish stands in spec.test.ts.
  'GET /AppEnv': {
    200: get(() => '/AppEnv?url=https://publishes.example.com/call'),
    400: get(() => '/AppEnv?url=https://publishes-nonsense.example.com/call'),
  },
  'POST /Lcrs': {
    201: post(
      () => '/Lcrs',
      async ({ api, input }) => ({
        name: 'to the world',
        ...(await roomForLcr({ api, input })),
      }),
    ),
    400: post(
      () => '/Lcrs',
      () => ({}),
    ),
  },
  'GET /ServiceProviders/{ServiceProviderSid}/SpeechCredentials/{SpeechCredentialSid}/test': {
    200: get(async ({ api, input }) => {
      const name = 'SpeechCredentialSid'
      const below = '/ServiceProviders/{ServiceProviderSid}/SpeechCredentials'
      const sid = await input.id({ name, collection: below }, api.own)
      return `${speech({ api, input })}/${sid}/test`
    }),
    404: get((context) => `${missing(speech(context))}/test`),
  },
  'GET /SipGateways': {
    200: get(async ({ api, input }) => {
      await input.id({ name: 'SipGatewaySid', collection: '/SipGateways' }, api.own)
      const carrier = await input.id({ name: 'VoipCarrierSid', collection: '/VoipCarriers' }, api.own)
      return `/SipGateways?voip_carrier_sid=${carrier}`
    }),
  },
}

const speech = ({ api }: CaseContext): string =>
  `/ServiceProviders/${api.own.service_provider_sid}/SpeechCredentials`

/** An account that has none yet. */
async function roomForLcr(context: CaseContext): Promise<object> {
  return { account_sid: (await newAccount(context)).split('/').at(-1) }
}

function registerPhone({ api }: CaseContext): void {
  api.phones.push({
    aor: `reception@${api.own.realm}`,
    contact: 'sip:reception@192.0.2.7:5060',
    expiresAt: api.clock.now() + 60_000,
    remote: { transport: 'udp', address: '192.0.2.7', port: 5060 },
  })
}

async function writeRecentCall({ api }: CaseContext): Promise<void> {
  const { account_sid, service_provider_sid } = api.own
  const call_sid = createSid()
  const at = api.clock.now() - 60_000
  api.storage.calls.write(
    {
      call_sid,
      account_sid,
      events: [{ seq: 1, at, type: 'decision', rule: 'test' }],
      notifications: [],
      record: {
        account_sid,
        service_provider_sid,
        application_sid: null,
        call_sid,
        sip_call_id: 'a84b4c76e66710@example.com',
        sip_parent_call_id: null,
        parent_call_sid: null,
        from: '+15551230001',
        to: '+15551230002',
        direction: 'inbound',
        answered: true,
        sip_status: 200,
        duration: 7,
        attempted_at: at,
        answered_at: at + 1000,
        terminated_at: at + 8000,
        termination_reason: 'caller hungup',
        host: '127.0.0.1',
        remote_host: '192.0.2.1',
        trunk: 'user',
        trace_id: '0'.repeat(32),
        recording_url: null,
      },
    },
    'now',
  )
  await api.storage.calls.flush()
}
