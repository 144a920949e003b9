// The details of one call, in all their forms: its journal, its SIP messages as a list or as a capture file, its trace,
// its log, its words, its recording.
import { AppError } from '../../lib/errors.ts'
import { callSidOfTrace, isSid } from '../../lib/ids.ts'
import type { WireOf } from '../define/field.ts'
import { createRecordForm } from '../define/record.ts'
import { boolean, choice } from '../define/fields.ts'
import { bytes, list, object, open, whole, word } from '../define/reply-fields.ts'
import { defineRoute, everyone } from '../define/route.ts'
import { toLog } from './log.ts'
import { journalOf, journalsOf, type Owner, type Reading } from './journal.ts'
import { toPcap } from './pcap.ts'
import { getRecording, removeRecording } from './recording.ts'
import { capturedIn, messagesIn } from './sip-messages.ts'
import { toTrace } from './trace.ts'
import { traceField } from './trace-field.ts'
import { getTranscript } from './transcript.ts'

const callIdText = 'The Call-ID of the call, percent-encoded, or its `call_sid`.'

const messageForm = createRecordForm({
  call_sid: word('The leg it belongs to.'),
  at: whole('When it was sent or received, in epoch milliseconds.'),
  direction: choice(['received', 'sent']).describe('As seen by the platform.'),
  summary: word('INVITE, or 200 OK.'),
  remote: word('Transport, address and port of the far end.'),
  raw: word('As it was on the wire.'),
  is_repeated: boolean().describe('Whether the same message went the same way before: a retransmission.'),
})

const messagesReply = {
  status: 200,
  description: 'The messages in the order they passed; total is 0 when there are none.',
  component: 'CallDetail',
  body: object({
    total: whole('How many messages there are.'),
    messages: list(messageForm.field).describe('In the order they passed.'),
  }),
} as const

const pcapReply = {
  status: 200,
  description: 'A capture file in the pcap format, with one packet for each SIP message.',
  body: bytes('application/vnd.tcpdump.pcap'),
  mediaType: 'application/octet-stream',
} as const

const getCallJournal = defineRoute({
  method: 'GET',
  path: '/Accounts/{AccountSid}/RecentCalls/{CallSid}/journal',
  parameters: { CallSid: 'The `call_sid` of the call.' },
  access: everyone,
  operationId: 'getCallJournal',
  tag: 'RecentCalls',
  summary:
    'Everything that happened in one call, live or ended: SIP messages, decisions, hooks, verbs, media.',
  reply: {
    status: 200,
    description: 'Events in the order they happened.',
    component: 'JournalEvent',
    body: list(
      open({
        seq: whole('1, 2, 3 ... without gaps.'),
        at: whole('When it happened, in epoch milliseconds.'),
        type: word('What happened, which decides the other members: `sip`, `decision`, `hook-asked` ...'),
      }),
    ),
    isVaried: true,
  },
  errors: ['not_found'],
  handle: ({ account: { account_sid }, params: { CallSid: call_sid }, caller, services }) =>
    journalOf({ account_sid, call_sid }, { caller, services }),
})

const getCallLog = defineRoute({
  method: 'GET',
  path: '/Accounts/{AccountSid}/RecentCalls/{CallSid}/logs',
  parameters: { CallSid: 'The `call_sid` of the call.' },
  access: everyone,
  operationId: 'getCallLog',
  tag: 'RecentCalls',
  summary: 'The journal of a call as lines of text, to be read or searched.',
  reply: {
    status: 200,
    description:
      'One line for each event, oldest first: time, kind and facts. SIP messages are shown by their first lines.',
    component: 'CallLog',
    body: list(word()),
  },
  errors: ['not_found'],
  handle: async ({ account: { account_sid }, params: { CallSid: call_sid }, caller, services }) =>
    toLog(await journalOf({ account_sid, call_sid }, { caller, services })),
})

const getCallTrace = defineRoute({
  method: 'GET',
  path: '/Accounts/{AccountSid}/RecentCalls/trace/{TraceId}',
  parameters: { TraceId: 'The `trace_id` of the call.' },
  access: everyone,
  operationId: 'getCallTrace',
  tag: 'RecentCalls',
  summary:
    'A call as a trace: one span for the call, and one for each hook, verb, status and decision in it.',
  reply: {
    status: 200,
    description: 'The spans; the first is the call.',
    component: 'CallTrace',
    body: traceField,
  },
  errors: ['not_found'],
  async handle({ account: { account_sid }, params: { TraceId }, caller, services }) {
    const call_sid = callSidOfTrace(TraceId)
    if (call_sid === undefined) throw new AppError('not_found', 'no such call')
    return toTrace(call_sid, await journalOf({ account_sid, call_sid }, { caller, services }))
  },
})

const getAccountCallDetail = defineRoute({
  method: 'GET',
  path: '/Accounts/{AccountSid}/RecentCalls/{SipCallId}',
  parameters: { SipCallId: callIdText },
  access: everyone,
  operationId: 'getAccountCallDetail',
  tag: 'RecentCalls',
  summary: 'The SIP messages of a call of an account.',
  reply: messagesReply,
  errors: ['not_found'],
  handle: ({ account: { account_sid }, params, caller, services }) =>
    detailOf(params.SipCallId, { account_sid }, { caller, services }),
})

const getProviderCallDetail = defineRoute({
  method: 'GET',
  path: '/ServiceProviders/{ServiceProviderSid}/RecentCalls/{SipCallId}',
  parameters: { SipCallId: callIdText },
  access: ['admin', 'service_provider'],
  operationId: 'getServiceProviderCallDetail',
  tag: 'RecentCalls',
  summary: 'The SIP messages of a call of an account of a service provider.',
  reply: messagesReply,
  errors: ['not_found'],
  handle: ({ provider: { service_provider_sid }, params, caller, services }) =>
    detailOf(params.SipCallId, { service_provider_sid }, { caller, services }),
})

const getAccountCallCapture = defineRoute({
  method: 'GET',
  path: '/Accounts/{AccountSid}/RecentCalls/{SipCallId}/{Method}/pcap',
  parameters: { SipCallId: callIdText, Method: '`invite`: registrations are not kept.' },
  access: everyone,
  operationId: 'getAccountCallCapture',
  tag: 'RecentCalls',
  summary: 'The SIP messages of a call of an account, as a capture file. Method is `invite`.',
  reply: pcapReply,
  errors: ['not_found'],
  async handle({ account: { account_sid }, params, head, caller, services }) {
    const capture = await captureOf(params, { account_sid }, { caller, services })
    head.header('content-disposition', attachment(params.SipCallId))
    return capture
  },
})

const getProviderCallCapture = defineRoute({
  method: 'GET',
  path: '/ServiceProviders/{ServiceProviderSid}/RecentCalls/{SipCallId}/{Method}/pcap',
  parameters: { SipCallId: callIdText, Method: '`invite`: registrations are not kept.' },
  access: ['admin', 'service_provider'],
  operationId: 'getServiceProviderCallCapture',
  tag: 'RecentCalls',
  summary:
    'The SIP messages of a call of an account of a service provider, as a capture file. Method is `invite`.',
  reply: pcapReply,
  errors: ['not_found'],
  async handle({ provider: { service_provider_sid }, params, head, caller, services }) {
    const capture = await captureOf(params, { service_provider_sid }, { caller, services })
    head.header('content-disposition', attachment(params.SipCallId))
    return capture
  },
})

async function detailOf(
  sip_call_id: string,
  owner: Owner,
  reading: Reading,
): Promise<WireOf<typeof messagesReply.body>> {
  const journals = await journalsOf(sip_call_id, owner, reading)
  // A Call-ID may look like a call_sid. An id that names no call either way is refused.
  if (journals.length === 0 && isSid(sip_call_id)) throw new AppError('not_found', 'no such call')
  const messages = journals.flatMap(({ leg: { call_sid }, events }) =>
    messagesIn(events).map((message) => messageForm.toWire({ call_sid, ...message })),
  )
  return { total: messages.length, messages }
}

interface CaptureParams {
  readonly SipCallId: string
  readonly Method: string
}

async function captureOf(
  { SipCallId, Method }: CaptureParams,
  owner: Owner,
  reading: Reading,
): Promise<Buffer> {
  // Clients also request captures of registrations, which are not kept.
  const isKept = Method.toLowerCase() === 'invite'
  const journals = isKept ? await journalsOf(SipCallId, owner, reading) : []
  const messages = journals.flatMap(({ events }) => capturedIn(events))
  if (messages.length === 0) throw new AppError('not_found', 'there are no messages of this call')
  return toPcap(messages)
}

/**
 * Returns the header. The far end chooses the Call-ID: characters that could end the string or the header are replaced.
 */
function attachment(sip_call_id: string): string {
  return `attachment; filename="callid-${sip_call_id.replace(/[^\w.@-]/g, '_')}.pcap"`
}

export const callDetailRoutes = [
  getCallJournal,
  getCallLog,
  getCallTrace,
  getTranscript,
  getAccountCallDetail,
  getProviderCallDetail,
  getAccountCallCapture,
  getProviderCallCapture,
  getRecording,
  removeRecording,
]
