// The live calls of an account, from the call engine: listed, read, counted, hung up.
import { callStatuses } from '../../calls/journal.ts'
import type { LiveCall } from '../../calls/calls.ts'
import { AppError } from '../../lib/errors.ts'
import { createField } from '../define/field.ts'
import { choice, dialled } from '../define/fields.ts'
import { list, object, whole, word } from '../define/reply-fields.ts'
import { defineRoute, everyone } from '../define/route.ts'

// Older clients expect 'alerting', which no call here has.
const shownStatuses = [...callStatuses, 'alerting'] as const

const callField = object({
  account_sid: word('The account whose call it is.'),
  call_id: word('Call-ID of the leg.'),
  call_sid: word('Names the call in paths and hooks.'),
  call_status: choice(shownStatuses).describe('The state of the call, as its call status hook received it.'),
  direction: choice(['inbound', 'outbound']).describe('inbound: the call came to the platform.'),
  from: word('The calling number or user.'),
  to: word('The called number or user.'),
  service_url: word('The base URL of the process that carries the call.'),
  sip_status: whole('The last status code: 100 to 699.'),
  service_provider_sid: word('The service provider of the account.').optional(),
  application_sid: word('The application that runs the call.').optional(),
  caller_name: word('The display name of the caller.').optional(),
  sip_reason: word('The reason phrase that came with sip_status.').optional(),
  duration: whole('Whole seconds since the answer, once it has ended.').optional(),
  originating_sip_ip: word('The address that the INVITE came from.').optional(),
  originating_sip_trunk_name: word('The carrier that the call came from, or `Microsoft Teams`.').optional(),
  parent_call_sid: word('The call for which this one was made.').optional(),
  sbc_callid: word('The same as call_id.').optional(),
  caller_id: word('The number or name that the called side of a `dial` sees.').optional(),
  call_termination_by: word(
    'Once it has ended: `caller` for the other side, `jambonz` for the platform.',
  ).optional(),
  customerData: createField<object>({
    schema: { type: 'object', additionalProperties: true },
    description: 'The value that `tag` has set, as hooks carry it.',
  }).optional(),
  trace_id: word('Names the trace of the call.').optional(),
  recording_url: word(
    'The path of its recording below the base of this API, once it is recorded.',
  ).optional(),
  local_sip_address: word('The address of the platform that the INVITE came to.').optional(),
  fs_sip_address: word('The same as local_sip_address.').optional(),
})

export const listCalls = defineRoute({
  method: 'GET',
  path: '/Accounts/{AccountSid}/Calls',
  access: everyone,
  operationId: 'listCalls',
  tag: 'Calls',
  summary: 'The calls of an account that have not ended.',
  query: {
    direction: choice(['inbound', 'outbound']).optional().describe('Only calls of this direction.'),
    from: dialled({ max: 255 }).optional().describe('The calling number, exactly.'),
    to: dialled({ max: 255 }).optional().describe('The called number, exactly.'),
    callStatus: choice(callStatuses).optional().describe('Only calls in this state.'),
  },
  reply: {
    status: 200,
    description: 'Live calls, oldest first.',
    body: list(callField),
    component: 'Call',
    mediaType: 'application/json',
  },
  async handle({ account, query, services }) {
    const { direction, from, to, callStatus } = query
    const wanted = services.calls
      .list(account.account_sid)
      .filter(
        (call) =>
          (direction === undefined || call.direction === direction) &&
          (from === undefined || call.from === from) &&
          (to === undefined || call.to === to) &&
          (callStatus === undefined || call.call_status === callStatus),
      )
    return Buffer.from(`[${wanted.map(textOf).join()}]`)
  },
})

const texts = new WeakMap<LiveCall, string>()

/** Returns the call as JSON, written once per state: the engine returns the same object until the call changes. */
function textOf(call: LiveCall): string {
  const known = texts.get(call)
  if (known !== undefined) return known
  const text = JSON.stringify(call)
  texts.set(call, text)
  return text
}

export const getCall = defineRoute({
  method: 'GET',
  path: '/Accounts/{AccountSid}/Calls/{CallSid}',
  parameters: { CallSid: 'The `call_sid` of the call.' },
  access: everyone,
  operationId: 'getCall',
  tag: 'Calls',
  summary: 'One call, until an hour after its end.',
  reply: { status: 200, description: 'The call.', body: callField, component: 'Call' },
  errors: ['not_found'],
  async handle({ account, params, services }) {
    const call = services.calls.find(account.account_sid, params.CallSid)
    if (call === undefined) throw new AppError('not_found', 'no such call')
    return call
  },
})

export const hangUpCall = defineRoute({
  method: 'DELETE',
  path: '/Accounts/{AccountSid}/Calls/{CallSid}',
  parameters: { CallSid: 'The `call_sid` of the call.' },
  access: everyone,
  operationId: 'hangUpCall',
  tag: 'Calls',
  summary: 'Hangs up a live call.',
  reply: { status: 204, description: 'The call has ended.' },
  errors: ['not_found'],
  async handle({ account, params, services }) {
    const { account_sid } = account
    const isHungUp = await services.calls.hangUp(account_sid, params.CallSid)
    // A call that has ended by itself meanwhile is hung up as well.
    if (!isHungUp && services.calls.find(account_sid, params.CallSid) === undefined)
      throw new AppError('not_found', 'no such call')
  },
})

export const countCalls = defineRoute({
  method: 'GET',
  path: '/Accounts/{AccountSid}/CallCount',
  access: everyone,
  operationId: 'getCallCount',
  tag: 'Calls',
  summary: 'How many calls of an account are up.',
  reply: {
    status: 200,
    description: 'Counted from the live calls.',
    component: 'CallCount',
    body: object({
      inbound: whole('Calls that came to the platform.'),
      outbound: whole('Calls that the platform made.'),
    }),
  },
  handle: async ({ account, services }) => services.calls.count(account.account_sid),
})

export const liveCallRoutes = [listCalls, getCall, hangUpCall, countCalls]
