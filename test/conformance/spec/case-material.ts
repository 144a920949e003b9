// The material of the cases for the specification's endpoints: requests, records made for a case, and bodies.
import type { TestApi } from '../../support/api.ts'
import type { ApiAnswer } from '../../support/api-request.ts'
import { createSid } from '../../../src/lib/ids.ts'
import type { ValidInput } from '../api/valid-input.ts'

export interface CaseContext {
  readonly api: TestApi
  readonly input: ValidInput
}

export type Case = (context: CaseContext) => Promise<ApiAnswer>

let made = 0
/** Returns a number for names that must be unique. */
export const nextNumber = (): number => (made += 1)
const hook = { url: 'https://app.example.com/call' }

export const account = ({ api }: CaseContext): string => `/Accounts/${api.own.account_sid}`
export const missing = (path: string): string => `${path}/${createSid()}`
export const key = ({ api }: CaseContext): string => api.adminKey

export const get =
  (path: (context: CaseContext) => string | Promise<string>): Case =>
  async (context) =>
    context.api.get(await path(context), key(context))

export const remove =
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
export const post = send('POST')
export const put = send('PUT')

/** Returns the path of a record of `own`, made for the case. */
const fresh =
  (name: string, collection: string) =>
  async ({ input, api }: CaseContext): Promise<string> =>
    `${collection}/${await input.id({ name, collection }, api.own, true)}`

export const user = fresh('UserSid', '/Users')
export const tenant = fresh('TenantSid', '/MicrosoftTeamsTenants')
export const newAccount = fresh('AccountSid', '/Accounts')
export const client = fresh('ClientSid', '/Clients')
export const webhook = fresh('WebhookSid', '/Webhooks')
export const application = fresh('ApplicationSid', '/Applications')

export const userBody = ({ api }: CaseContext): object => ({
  name: `spec${nextNumber()}`,
  email: `spec${made}@example.com`,
  is_active: true,
  force_change: false,
  initial_password: 'Correct-horse-7',
  is_view_only: false,
  account_sid: api.own.account_sid,
  service_provider_sid: api.own.service_provider_sid,
})
export const tenantBody = ({ api }: CaseContext): object => ({
  service_provider_sid: api.own.service_provider_sid,
  tenant_fqdn: `spec${nextNumber()}.teams.example.com`,
})
export const accountBody = ({ api }: CaseContext): object => ({
  name: `spec ${nextNumber()}`,
  service_provider_sid: api.own.service_provider_sid,
  sip_realm: `spec${made}.sip.example.com`,
  registration_hook: hook,
  queue_event_hook: hook,
})
export const applicationBody = ({ api }: CaseContext): object => ({
  name: `spec ${nextNumber()}`,
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
export const clientBody = ({ api }: CaseContext): object => ({
  account_sid: api.own.account_sid,
  username: `spec${nextNumber()}`,
  password: 'sip-secret-1',
})
export const flags = {
  is_active: 1,
  allow_direct_app_calling: 1,
  allow_direct_queue_calling: 0,
  allow_direct_user_calling: 1,
}

export async function nameOfAnother(context: CaseContext): Promise<object> {
  const body = applicationBody(context) as { name: string }
  await context.api.post('/Applications', key(context), body)
  return { name: body.name }
}

export const speech = ({ api }: CaseContext): string =>
  `/ServiceProviders/${api.own.service_provider_sid}/SpeechCredentials`

/** Returns an account that has no Lcr yet. */
export async function roomForLcr(context: CaseContext): Promise<object> {
  return { account_sid: (await newAccount(context)).split('/').at(-1) }
}

export function registerPhone({ api }: CaseContext): void {
  api.phones.push({
    aor: `reception@${api.own.realm}`,
    contact: 'sip:reception@192.0.2.7:5060',
    expiresAt: api.clock.now() + 60_000,
    remote: { transport: 'udp', address: '192.0.2.7', port: 5060 },
  })
}

export async function writeRecentCall({ api }: CaseContext): Promise<void> {
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
        attempts: null,
        stir_shaken: null,
        failure: null,
        media_failure: null,
      },
    },
    'now',
  )
  await api.storage.calls.flush()
}
