// The requests that reach each status in the spec's endpoint tables. 500 has a test of its own, since it is the same
// for all.
import { makeCall } from '../api/live-call.ts'
import { createSid } from '../../../src/lib/ids.ts'
import {
  account,
  accountBody,
  application,
  applicationBody,
  client,
  clientBody,
  flags,
  get,
  key,
  missing,
  nameOfAnother,
  newAccount,
  nextNumber,
  post,
  put,
  registerPhone,
  remove,
  roomForLcr,
  speech,
  tenant,
  tenantBody,
  user,
  userBody,
  webhook,
  writeRecentCall,
  type Case,
} from './case-material.ts'

type Cases = Readonly<Record<string, Readonly<Record<number, Case>>>>

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
    204: put(user, () => ({ name: `renamed${nextNumber()}` })),
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
    204: put(tenant, () => ({ tenant_fqdn: `moved${nextNumber()}.teams.example.com` })),
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
    // The body is the full record, as it was read.
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
    204: post(
      async (context) => `${await newAccount(context)}/SipRealms/spec${nextNumber()}.sip.example.com`,
    ),
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
    // The body is the full record, as it was read.
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
  // The variables that the two applications publish are in spec.test.ts.
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
