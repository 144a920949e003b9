// Records of calls that have ended.
import type { Schema } from '../storage/tables.ts'
import type { CallAttempt, CallFailure } from '../contracts/call-record.ts'
import type { IdentityFinding } from '../contracts/number-trust.ts'
import { createField, type Cell, type WireOf } from './define/field.ts'
import { boolean, choice, dialled, integer, text, time } from './define/fields.ts'
import { createRecordForm } from './define/record.ts'
import { list, object, whole, word } from './define/reply-fields.ts'
import { defineRoute, everyone } from './define/route.ts'

const identity = {
  verstat: choice(['TN-Validation-Passed', 'TN-Validation-Failed', 'No-TN-Validation']).describe(
    'Passed: the calling number is proven. Failed: the signature is for another call, too old, or not trusted. No: it could not be decided.',
  ),
  attest: choice(['A', 'B', 'C']).describe('The attestation of the signer; only with Passed.').optional(),
  origid: word('The origin of the call, as the signer names it.').optional(),
  code: word(
    'Why it is not proven: `no_trust_list`, `identity_malformed`, `identity_unsupported`, `identity_stale`, `identity_of_other_numbers`, `certificate_unavailable`, `certificate_not_trusted` or `signature_wrong`.',
  ).optional(),
  reason: word('The same as a sentence.').optional(),
}

const failure = {
  code: word('The code of the reason: the reference of errors lists the codes, which are stable.'),
  sentence: word('The reason in words.'),
  cure: word('What can be done about it.'),
}

const form = createRecordForm({
  account_sid: word('The account whose call it was.'),
  call_sid: word('Names the call in paths and hooks.'),
  from: word('The calling number or user.'),
  to: word('The called number or user.'),
  answered: boolean().describe('Whether it was answered.'),
  sip_status: whole('The status code of the final response: 200 to 699.'),
  duration: whole('Whole seconds; 0 when it was not answered.'),
  attempted_at: whole('When the INVITE came or was sent, in epoch milliseconds.'),
  terminated_at: whole('When it ended, in epoch milliseconds.'),
  direction: choice(['inbound', 'outbound']).describe('inbound: the call came to the platform.'),
  service_provider_sid: word('The service provider of the account.'),
  application_sid: word('The application that ran the call.').optional(),
  sip_call_id: word('Call-ID of the leg.'),
  sip_callid: word('The same as sip_call_id, for older clients.'),
  sip_parent_callid: word('Call-ID of the call for which this one was made.').optional(),
  parent_call_sid: word('The call for which this one was made.').optional(),
  answered_at: whole('When it was answered, in epoch milliseconds; left out when it was not.').optional(),
  termination_reason: word('Who or what ended it.'),
  host: word('The address of the platform that carried it.'),
  remote_host: word('The address of the far end.'),
  trunk: word('The carrier, or another way by which the call came or went.'),
  trace_id: word('Names the trace of the call.'),
  recording_url: word(
    'The path of its recording below the base of this API, if it was recorded. The recording is there once it is stored.',
  ).optional(),
  attempts: attemptsField(),
  stir_shaken: createField<IdentityFinding>({
    schema: object(identity).facts.schema,
    description: 'What the Identity header of an inbound call proves; left out if it had none.',
    fromCell: fromJson,
  }).optional(),
  failure: createField<CallFailure>({
    schema: object(failure).facts.schema,
    description:
      'Why the platform refused the call, gave it up or ended it: the same as in the journal, in the status hook and in the log. Left out if the far end or the application ended it.',
    fromCell: fromJson,
  }).optional(),
  media_failure: createField<CallFailure>({
    schema: object(failure).facts.schema,
    description:
      'Why an answered call had no sound in one direction: `no_media_received` or `no_media_delivered`, with the places of both sides. The call was not ended for it. Left out if sound came, and if none had to come.',
    fromCell: fromJson,
  }).optional(),
})

/** Returns the outcome at each place that the call was sent to. */
function attemptsField() {
  const attempt = object({
    trunk: word('The carrier by its name, `user` or `sipUri`.'),
    place: word('The gateway, the phone or the URI.'),
    sip_gateway_sid: word('The gateway of the carrier.').optional(),
    remote_host: word('Its address, where a request could be sent.').optional(),
    outcome: choice(['answered', 'refused', 'silent', 'unreachable', 'withdrawn']).describe(
      'silent: it did not respond in time; unreachable: no request could be sent; withdrawn: the call ended before it had decided, or another place answered before the INVITE was sent.',
    ),
    cause: word('The line of its final response, or what failed.'),
    sip_status: whole('The status code of its final response.').optional(),
    post_dial_delay_ms: whole(
      'Milliseconds from the INVITE until it rang, or its final response.',
    ).optional(),
  })
  const { schema } = list(attempt).facts
  return createField<readonly CallAttempt[]>({
    schema,
    description:
      'For an outbound call: each place that it was sent to, in the order in which the attempts ended.',
    fromCell: fromJson,
  }).optional()
}

function fromJson(cell: Cell): unknown {
  return cell === null ? null : JSON.parse(String(cell))
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
  body: object({
    total: whole('Records that match.'),
    batch: whole('Records on this page.'),
    page: whole('The page asked for, from 1.'),
    page_size: whole('The count asked for.'),
    data: list(form.field).describe('The records, newest first.'),
  }),
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
    const { total, rows } = await services.storage.recentCalls.page(
      caller.tenancy,
      account.account_sid,
      query,
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
      query,
    )
    return { total, batch: rows.length, page, page_size: count, data: rows.map(toWire) }
  },
})

function toWire(row: Schema['recent_calls']): WireOf<typeof form.field> {
  return form.toWire({ ...row, sip_callid: row.sip_call_id, sip_parent_callid: row.sip_parent_call_id })
}

export const recentCallRoutes = [listRecentCalls, listRecentCallsOfProvider]
