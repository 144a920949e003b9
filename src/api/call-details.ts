// The SIP messages of one call, found by its Call-ID: live from the call engine, ended from the journal.
import type { Caller } from '../lib/caller.ts'
import type { Services, StoredEvent } from './define/context.ts'
import { defineRoute, everyone } from './define/route.ts'

const word = { type: 'string' }
const reply = {
  status: 200,
  description: 'The messages in the order they passed; total is 0 when there are none.',
  component: 'CallDetail',
  schema: {
    type: 'object',
    properties: {
      total: { type: 'integer' },
      messages: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            call_sid: word,
            at: { type: 'integer', description: 'Epoch milliseconds.' },
            direction: { type: 'string', enum: ['received', 'sent'] },
            summary: { type: 'string', description: 'INVITE, or 200 OK.' },
            remote: word,
            raw: { type: 'string', description: 'As it was on the wire.' },
          },
          required: ['call_sid', 'at', 'direction', 'summary', 'remote', 'raw'],
        },
      },
    },
    required: ['total', 'messages'],
  },
} as const

const getAccountCallDetail = defineRoute({
  method: 'GET',
  path: '/Accounts/{AccountSid}/RecentCalls/{SipCallId}',
  access: everyone,
  operationId: 'getAccountCallDetail',
  tag: 'RecentCalls',
  summary: 'The SIP messages of a call of an account.',
  reply,
  handle: ({ account: { account_sid }, params, caller, services }) =>
    detailOf(params.SipCallId, { account_sid }, { caller, services }),
})

const getProviderCallDetail = defineRoute({
  method: 'GET',
  path: '/ServiceProviders/{ServiceProviderSid}/RecentCalls/{SipCallId}',
  access: ['admin', 'service_provider'],
  operationId: 'getServiceProviderCallDetail',
  tag: 'RecentCalls',
  summary: 'The SIP messages of a call of an account of a service provider.',
  reply,
  handle: ({ provider: { service_provider_sid }, params, caller, services }) =>
    detailOf(params.SipCallId, { service_provider_sid }, { caller, services }),
})

type Owner = { readonly account_sid: string } | { readonly service_provider_sid: string }

interface Context {
  readonly caller: Caller
  readonly services: Services
}

interface Leg {
  readonly account_sid: string
  readonly call_sid: string
}

async function detailOf(sip_call_id: string, owner: Owner, context: Context): Promise<object> {
  const legs = await legsOf(sip_call_id, owner, context)
  const messages = await Promise.all(legs.map((leg) => messagesOf(leg, context)))
  const all = messages.flat()
  return { total: all.length, messages: all }
}

async function legsOf(
  sip_call_id: string,
  owner: Owner,
  { caller, services }: Context,
): Promise<readonly Leg[]> {
  const { storage, calls } = services
  const live =
    'account_sid' in owner ? calls.list(owner.account_sid) : calls.listOfProvider(owner.service_provider_sid)
  const ended = await storage.recentCalls.bySipCallId(caller.tenancy, owner, sip_call_id)
  const legs = [...ended, ...live.filter(({ call_id }) => call_id === sip_call_id)]
  return [...new Map(legs.map((leg) => [leg.call_sid, leg])).values()]
}

async function messagesOf(
  { account_sid, call_sid }: Leg,
  { caller, services: { calls, storage } }: Context,
): Promise<object[]> {
  const events: readonly StoredEvent[] =
    calls.journal(account_sid, call_sid) ??
    (await storage.journal.read(caller.tenancy, account_sid, call_sid)) ??
    []
  return events.flatMap((event) => {
    if (event.type !== 'sip') return []
    const { at, direction, summary, remote, raw } = event as StoredEvent & Readonly<Record<string, unknown>>
    return [{ call_sid, at, direction, summary, remote, raw }]
  })
}

export const callDetailRoutes = [getAccountCallDetail, getProviderCallDetail]
