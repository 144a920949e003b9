// Records of calls that have ended.
import type { RecentCallsRow } from '../storage/tables.ts'
import { oneOf, truth, whole, word } from './define/described.ts'
import { boolean, choice, dialled, integer, text, time } from './define/fields.ts'
import { defineRoute, everyone } from './define/route.ts'

const required = {
  account_sid: word('The account whose call it was.'),
  call_sid: word('Names the call in paths and hooks.'),
  from: word('The calling number or user.'),
  to: word('The called number or user.'),
  answered: truth('Whether it was answered.'),
  sip_status: whole('The status code of the final response: 200 to 699.'),
  duration: whole('Whole seconds; 0 when it was not answered.'),
  attempted_at: whole('When the INVITE came or was sent, in epoch milliseconds.'),
  terminated_at: whole('When it ended, in epoch milliseconds.'),
  direction: oneOf(['inbound', 'outbound'], 'inbound: somebody called the platform.'),
}
const recordSchema = {
  type: 'object',
  properties: {
    ...required,
    service_provider_sid: word('The service provider of the account.'),
    application_sid: word('The application that ran the call.'),
    sip_call_id: word('Call-ID of the leg.'),
    sip_callid: word('The same as sip_call_id, for older clients.'),
    sip_parent_callid: word('Call-ID of the call for which this one was made.'),
    answered_at: whole('When it was answered, in epoch milliseconds; left out when it was not.'),
    termination_reason: word('Who or what ended it.'),
    host: word('The address of ours that carried it.'),
    remote_host: word('The address of the far end.'),
    trunk: word('The carrier, or what else the call came or went by.'),
    trace_id: word('Names the trace of the call.'),
  },
  required: Object.keys(required),
}

const pageQuery = {
  page: integer({ min: 1, max: 10_000_000 }).describe('From 1.'),
  count: integer({ min: 1, max: 500 }).describe('Records on a page.'),
  days: integer({ min: 1, max: 36_500 })
    .optional()
    .describe('Only the last N times 24 hours; overrides start and end.'),
  start: time().optional().describe('Attempted at this moment or later.'),
  end: time().optional().describe('Attempted at this moment or earlier.'),
  answered: boolean().optional().describe('true: only answered calls; false: only others.'),
  direction: choice(['inbound', 'outbound']).optional().describe('Only calls of this direction.'),
  trunk: text({ max: 255 }).optional().describe('The carrier, exactly.'),
  filter: dialled({ max: 255 }).optional().describe('Part of from or to, or a whole call_sid.'),
}

const pageReply = {
  status: 200,
  description: 'The page.',
  component: 'RecentCallPage',
  schema: {
    type: 'object',
    properties: {
      total: whole('Records that match.'),
      batch: whole('Records on this page.'),
      page: whole('The page asked for, from 1.'),
      page_size: whole('The count asked for.'),
      data: { type: 'array', items: recordSchema, description: 'The records, newest first.' },
    },
    required: ['total', 'batch', 'page', 'page_size', 'data'],
  },
} as const

export const listRecentCalls = defineRoute({
  method: 'GET',
  path: '/Accounts/{AccountSid}/RecentCalls',
  access: everyone,
  operationId: 'listRecentCalls',
  tag: 'RecentCalls',
  summary: 'One page of the calls of an account that have ended, newest first.',
  query: pageQuery,
  reply: pageReply,
  errors: ['not_found'],
  async handle({ account, query, caller, services }) {
    const { page, count } = query
    const wanted = withoutUnset(query)
    const { total, rows } = await services.storage.recentCalls.page(
      caller.tenancy,
      account.account_sid,
      wanted,
    )
    return { total, batch: rows.length, page, page_size: count, data: rows.map(toWire) }
  },
})

export const listRecentCallsOfProvider = defineRoute({
  method: 'GET',
  path: '/ServiceProviders/{ServiceProviderSid}/RecentCalls',
  access: ['admin', 'service_provider'],
  operationId: 'listRecentCallsOfServiceProvider',
  tag: 'RecentCalls',
  summary: 'One page of the calls of all accounts of a service provider that have ended, newest first.',
  query: pageQuery,
  reply: { ...pageReply, component: 'RecentCallPageOfServiceProvider' },
  async handle({ provider, query, caller, services }) {
    const { page, count } = query
    const { total, rows } = await services.storage.recentCalls.pageOfProvider(
      caller.tenancy,
      provider.service_provider_sid,
      withoutUnset(query),
    )
    return { total, batch: rows.length, page, page_size: count, data: rows.map(toWire) }
  },
})

type WithoutUnset<Q> = { readonly [K in keyof Q]: Exclude<Q[K], null> }

/** A query string has no null; the types of optional fields do. */
function withoutUnset<Q extends object>(query: Q): WithoutUnset<Q> {
  return Object.fromEntries(Object.entries(query).filter(([, value]) => value !== null)) as WithoutUnset<Q>
}

function toWire(row: RecentCallsRow): Record<string, unknown> {
  const { application_sid, sip_parent_call_id, answered_at } = row
  return {
    account_sid: row.account_sid,
    service_provider_sid: row.service_provider_sid,
    call_sid: row.call_sid,
    from: row.from,
    to: row.to,
    answered: row.answered === 1,
    sip_status: row.sip_status,
    duration: row.duration,
    attempted_at: row.attempted_at,
    terminated_at: row.terminated_at,
    direction: row.direction,
    sip_call_id: row.sip_call_id,
    sip_callid: row.sip_call_id,
    termination_reason: row.termination_reason,
    host: row.host,
    remote_host: row.remote_host,
    trunk: row.trunk,
    trace_id: row.trace_id,
    ...(application_sid === null ? {} : { application_sid }),
    ...(sip_parent_call_id === null ? {} : { sip_parent_callid: sip_parent_call_id }),
    ...(answered_at === null ? {} : { answered_at }),
  }
}

export const recentCallRoutes = [listRecentCalls, listRecentCallsOfProvider]
