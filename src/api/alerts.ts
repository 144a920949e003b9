// What went wrong lately and somebody should know of, newest first.
import type { AlertQuery } from '../storage/alerts.ts'
import type { AlertsRow } from '../storage/tables.ts'
import { moment, whole, word, wordOrNull } from './define/described.ts'
import { choice, integer, time } from './define/fields.ts'
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
  'error-updating-call',
  'user-locked-out',
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

const reply = {
  status: 200,
  description: 'The page. Alerts are kept for 30 days.',
  component: 'AlertPage',
  schema: {
    type: 'object',
    properties: {
      total: whole('Alerts that match.'),
      page_size: whole('The count asked for.'),
      page: whole('The page asked for, from 1.'),
      data: {
        type: 'array',
        description: 'The alerts, newest first.',
        items: {
          type: 'object',
          properties: {
            time: moment('When it was raised.'),
            account_sid: wordOrNull('The account it is about; null: the service provider as a whole.'),
            service_provider_sid: word('The service provider it is about, or that of the account.'),
            alert_type: word('What kind of failure it was: `webhook-failure`, `account-call-limit` ...'),
            message: word('What went wrong, in a sentence.'),
            detail: wordOrNull('What else is known of it.'),
            vendor: word('The speech vendor that failed.'),
            call_sid: word('The call it happened in.'),
          },
          required: ['time', 'service_provider_sid', 'alert_type', 'message', 'detail'],
        },
      },
    },
    required: ['total', 'page_size', 'page', 'data'],
  },
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
    const page = await services.storage.alerts.page(caller.tenancy, { account_sid }, withoutUnset(wanted))
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
    const page = await services.storage.alerts.page(caller.tenancy, owner, withoutUnset(wanted))
    return toEnvelope(wanted, page)
  },
})

type Wanted = Pick<AlertQuery, 'page' | 'count'>

function toEnvelope(
  { page, count }: Wanted,
  { total, rows }: { readonly total: number; readonly rows: readonly AlertsRow[] },
): object {
  return { total, page_size: count, page, data: rows.map(toWire) }
}

function toWire(row: AlertsRow): object {
  const { time: at, account_sid, service_provider_sid, alert_type, message, detail, vendor, call_sid } = row
  return {
    time: new Date(at).toISOString(),
    account_sid,
    service_provider_sid,
    alert_type,
    message,
    detail,
    ...(vendor === null ? {} : { vendor }),
    ...(call_sid === null ? {} : { call_sid }),
  }
}

/** A query string has no null; the types of optional fields do. */
function withoutUnset(wanted: Readonly<Record<string, unknown>>): AlertQuery {
  return Object.fromEntries(
    Object.entries(wanted).filter(([, value]) => value !== null),
  ) as unknown as AlertQuery
}

export const alertRoutes = [listAccountAlerts, listProviderAlerts]
