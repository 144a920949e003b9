// Alerts: recent failures that need attention, newest first.
import type { AlertQuery } from '../storage/alerts.ts'
import type { Schema } from '../storage/tables.ts'
import type { WireOf } from './define/field.ts'
import { choice, integer, time } from './define/fields.ts'
import { createRecordForm } from './define/record.ts'
import { list, object, whole, word } from './define/reply-fields.ts'
import { defineRoute, everyone } from './define/route.ts'

const alertTypes = [
  'webhook-failure',
  'webhook-connection-failure',
  'webhook-url-notfound',
  'webhook-auth-failure',
  'invalid-app-payload',
  'no-tts',
  'no-stt',
  'no-llm',
  'tts-failure',
  'stt-failure',
  'llm-failure',
  'no-carrier',
  'carrier-registration-failure',
  'carrier-registration-restored',
  'gateway-down',
  'carrier-call-refused',
  'gateway-up',
  'account-call-limit',
  'account-device-limit',
  'account-api-limit',
  'service-provider-call-limit',
  'service-provider-device-limit',
  'service-provider-api-limit',
  'account is inactive or suspended',
  'play-url-notfound',
  'tts-streaming-connection-failure',
  'alert-from-application',
  'recording-failure',
  'disk-full',
  'no-media',
  'no-media-port',
  'error-updating-call',
  'user-locked-out',
  'outbound-calls-stopped',
  'destination-closed',
  'call-rate-limit',
  'outbound-call-limit',
  'call-minutes-limit',
  'certificate-failure',
  'database-unavailable',
  'clock-wrong',
] as const

const query = {
  page: integer({ min: 1, max: 10_000_000 }).describe('From 1.'),
  count: integer({ min: 1, max: 500 }).describe('Alerts on a page.'),
  alert_type: choice(alertTypes).optional().describe('Only alerts of this kind.'),
  days: integer({ min: 1, max: 36_500 })
    .optional()
    .describe('Only the last N times 24 hours; overrides start and end.'),
  start: time().optional().describe('At this moment or later.'),
  end: time().optional().describe('At this moment or earlier.'),
}

const form = createRecordForm({
  time: time().describe('When it was raised.'),
  account_sid: word('The account it is about; null: the service provider as a whole.').nullable(),
  service_provider_sid: word('The service provider it is about, or that of the account.'),
  alert_type: word('What kind of failure it was: `webhook-failure`, `account-call-limit` ...'),
  message: word('What went wrong, in a sentence.'),
  detail: word('Further details.').nullable(),
  vendor: word('The speech vendor that failed.').optional(),
  call_sid: word('The call it happened in.').optional(),
})

const reply = {
  status: 200,
  description: 'The page. Alerts are kept for 30 days.',
  component: 'AlertPage',
  body: object({
    total: whole('Alerts that match.'),
    page_size: whole('The count asked for.'),
    page: whole('The page asked for, from 1.'),
    data: list(form.field).describe('The alerts, newest first.'),
  }),
} as const

const listAccountAlerts = defineRoute({
  method: 'GET',
  path: '/Accounts/{AccountSid}/Alerts',
  access: everyone,
  operationId: 'listAccountAlerts',
  tag: 'Alerts',
  summary: 'One page of the alerts of an account, newest first.',
  query,
  reply,
  async handle({ account: { account_sid }, query: wanted, caller, services }) {
    const page = await services.storage.alerts.page(caller.tenancy, { account_sid }, wanted)
    return toEnvelope(wanted, page)
  },
})

const listProviderAlerts = defineRoute({
  method: 'GET',
  path: '/ServiceProviders/{ServiceProviderSid}/Alerts',
  access: ['admin', 'service_provider'],
  operationId: 'listServiceProviderAlerts',
  tag: 'Alerts',
  summary: 'One page of the alerts of a service provider and its accounts, newest first.',
  query,
  reply: { ...reply, component: 'AlertPageOfServiceProvider' },
  async handle({ provider: { service_provider_sid }, query: wanted, caller, services }) {
    const owner = { service_provider_sid }
    const page = await services.storage.alerts.page(caller.tenancy, owner, wanted)
    return toEnvelope(wanted, page)
  },
})

type Wanted = Pick<AlertQuery, 'page' | 'count'>

function toEnvelope(
  { page, count }: Wanted,
  { total, rows }: { readonly total: number; readonly rows: readonly Schema['alerts'][] },
): WireOf<typeof reply.body> {
  return { total, page_size: count, page, data: rows.map((row) => form.toWire(row)) }
}

export const alertRoutes = [listAccountAlerts, listProviderAlerts]
