// Live calls of an account: list, look at, count, hang up. What is said of them comes from the call engine.
import { AppError } from '../lib/errors.ts'
import { choice, text } from './define/fields.ts'
import { defineRoute, everyone } from './define/route.ts'

const word = { type: 'string' }
const whole = { type: 'integer' }
const required = {
  account_sid: word,
  call_id: word,
  call_sid: word,
  call_status: {
    type: 'string',
    enum: [
      'trying',
      'ringing',
      'alerting',
      'early-media',
      'in-progress',
      'completed',
      'busy',
      'no-answer',
      'failed',
      'queued',
    ],
  },
  direction: { type: 'string', enum: ['inbound', 'outbound'] },
  from: word,
  to: word,
  service_url: word,
  sip_status: whole,
}
const callSchema = {
  type: 'object',
  properties: {
    ...required,
    service_provider_sid: word,
    application_sid: word,
    caller_name: word,
    sip_reason: word,
    duration: { type: 'integer', description: 'Whole seconds since the answer, once it has ended.' },
    originating_sip_ip: word,
    originating_sip_trunk_name: word,
    parent_call_sid: word,
    trace_id: word,
    local_sip_address: word,
  },
  required: Object.keys(required),
}

export const listCalls = defineRoute({
  method: 'GET',
  path: '/Accounts/{AccountSid}/Calls',
  access: everyone,
  operationId: 'listCalls',
  tag: 'Calls',
  summary: 'The calls of an account that have not ended.',
  query: {
    direction: choice(['inbound', 'outbound']).optional(),
    from: text({ max: 255 }).optional().describe('The calling number, exactly.'),
    to: text({ max: 255 }).optional().describe('The called number, exactly.'),
    callStatus: choice([
      'trying',
      'ringing',
      'early-media',
      'in-progress',
      'completed',
      'failed',
      'busy',
      'no-answer',
      'queued',
    ]).optional(),
  },
  reply: {
    status: 200,
    description: 'Live calls, oldest first.',
    schema: { type: 'array', items: callSchema },
    component: 'Call',
  },
  async handle({ account, query, services }) {
    const { direction, from, to, callStatus } = query
    return services.calls
      .list(account.account_sid)
      .filter(
        (call) =>
          (direction === undefined || call.direction === direction) &&
          (from === undefined || call.from === from) &&
          (to === undefined || call.to === to) &&
          (callStatus === undefined || call.call_status === callStatus),
      )
  },
})

export const getCall = defineRoute({
  method: 'GET',
  path: '/Accounts/{AccountSid}/Calls/{CallSid}',
  access: everyone,
  operationId: 'getCall',
  tag: 'Calls',
  summary: 'One call, until an hour after its end.',
  reply: { status: 200, description: 'The call.', schema: callSchema, component: 'Call' },
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
  access: everyone,
  operationId: 'hangUpCall',
  tag: 'Calls',
  summary: 'Hangs up a live call.',
  reply: { status: 204, description: 'The call has ended.' },
  errors: ['not_found'],
  async handle({ account, params, services }) {
    const { account_sid } = account
    const isHungUp = await services.calls.hangUp(account_sid, params.CallSid)
    // One that has ended by itself meanwhile is as the client wants it.
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
    schema: {
      type: 'object',
      properties: { inbound: whole, outbound: whole },
      required: ['inbound', 'outbound'],
    },
  },
  handle: async ({ account, services }) => services.calls.count(account.account_sid),
})

export const callRoutes = [listCalls, getCall, hangUpCall, countCalls]
