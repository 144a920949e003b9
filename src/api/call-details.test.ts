import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { LiveCall } from '../calls/calls.ts'
import type { JournalEvent } from '../calls/journal.ts'
import { createSid } from '../lib/ids.ts'
import { openTestApi } from '../../test/support/api.ts'
import type { TestApi, TestTenant } from '../../test/support/api.ts'

let api: TestApi
beforeAll(async () => {
  api = await openTestApi()
})
afterAll(() => api.close())

const sip = (seq: number, summary: string): JournalEvent => ({
  seq,
  at: 1000 + seq,
  type: 'sip',
  direction: seq % 2 === 0 ? 'sent' : 'received',
  summary,
  remote: 'udp 192.0.2.1:5060',
  raw: `${summary} raw`,
})
const events = [sip(1, 'INVITE'), { seq: 2, at: 1, type: 'note', sentence: 's' } as const, sip(4, '200 OK')]

async function endCall(tenant: TestTenant, sip_call_id: string): Promise<string> {
  const { account_sid, service_provider_sid } = tenant
  const call_sid = createSid()
  api.storage.calls.write(
    {
      call_sid,
      account_sid,
      events,
      notifications: [],
      isClosed: true,
      record: {
        account_sid,
        service_provider_sid,
        call_sid,
        sip_call_id,
        application_sid: null,
        sip_parent_call_id: null,
        from: '1',
        to: '2',
        direction: 'inbound',
        answered: true,
        sip_status: 200,
        duration: 1,
        attempted_at: 1,
        answered_at: 1,
        terminated_at: 1,
        termination_reason: 'caller hungup',
        host: 'h',
        remote_host: 'r',
        trunk: 'user',
        trace_id: 't',
      },
    },
    'now',
  )
  await api.storage.calls.flush()
  return call_sid
}

const ofAccount = (id: string, token: string, { account_sid }: TestTenant = api.own) =>
  api.get(`/Accounts/${account_sid}/RecentCalls/${encodeURIComponent(id)}`, token)
const ofProvider = (id: string, token: string) =>
  api.get(`/ServiceProviders/${api.own.service_provider_sid}/RecentCalls/${encodeURIComponent(id)}`, token)

describe('the SIP messages of a call', () => {
  it('are answered for an ended call, in their order, to whoever may see it', async () => {
    const call_sid = await endCall(api.own, 'ended@192.0.2.1')
    const message = { call_sid, remote: 'udp 192.0.2.1:5060' }
    const expected = {
      total: 2,
      messages: [
        { ...message, at: 1001, direction: 'received', summary: 'INVITE', raw: 'INVITE raw' },
        { ...message, at: 1004, direction: 'sent', summary: '200 OK', raw: '200 OK raw' },
      ],
    }
    for (const token of [api.own.accountKey, api.own.providerKey, api.adminKey]) {
      const { status, body } = await ofAccount('ended@192.0.2.1', token)
      expect([status, body]).toEqual([200, expected])
    }
    expect((await ofProvider('ended@192.0.2.1', api.own.providerKey)).body).toEqual(expected)
    expect((await ofProvider('ended@192.0.2.1', api.adminKey)).body).toEqual(expected)
  })

  it('are answered for a live call', async () => {
    const { account_sid, service_provider_sid } = api.own
    const call_sid = createSid()
    api.calls.push({ account_sid, service_provider_sid, call_sid, call_id: 'live/1' } as LiveCall)
    api.journals.set(call_sid, events)
    expect((await ofAccount('live/1', api.own.accountKey)).body).toMatchObject({ total: 2 })
    expect((await ofProvider('live/1', api.own.providerKey)).body).toMatchObject({ total: 2 })
  })

  it('are none for an unknown call and for one of somebody else', async () => {
    await endCall(api.sibling, 'theirs')
    const none = { total: 0, messages: [] }
    expect((await ofAccount('unknown', api.own.accountKey)).body).toEqual(none)
    expect((await ofAccount('theirs', api.own.accountKey)).body).toEqual(none)
    expect((await ofAccount('theirs', api.own.providerKey)).body).toEqual(none)
    expect((await ofProvider('theirs', api.own.providerKey)).body).toMatchObject({ total: 2 })
    await endCall(api.foreign, 'foreign')
    expect((await ofProvider('foreign', api.adminKey)).body).toEqual(none)
  })

  it('are for nobody but the account and those above it', async () => {
    expect((await ofAccount('theirs', api.own.accountKey, api.sibling)).status).toBe(403)
    expect((await ofAccount('ended@192.0.2.1', api.foreign.providerKey)).status).toBe(403)
    expect((await ofProvider('ended@192.0.2.1', api.own.accountKey)).status).toBe(403)
    expect((await ofProvider('ended@192.0.2.1', api.foreign.providerKey)).status).toBe(403)
  })
})

describe('GET /ServiceProviders/{sid}/RecentCalls', () => {
  it('pages through the calls of all accounts of the provider, and of no other', async () => {
    const path = `/ServiceProviders/${api.own.service_provider_sid}/RecentCalls`
    const { status, body } = await api.get(`${path}?page=1&count=1`, api.own.providerKey)
    expect(status).toBe(200)
    expect(body).toMatchObject({ total: 2, batch: 1, page: 1, page_size: 1 })
    const all = await api.get(`${path}?page=1&count=10&answered=true`, api.adminKey)
    const accounts = (all.body as { data: { account_sid: string }[] }).data.map(
      ({ account_sid }) => account_sid,
    )
    expect(new Set(accounts)).toEqual(new Set([api.own.account_sid, api.sibling.account_sid]))
    expect((await api.get(`${path}?page=1`, api.adminKey)).status).toBe(400)
    expect((await api.get(`${path}?page=1&count=1`, api.own.accountKey)).status).toBe(403)
    expect((await api.get(`${path}?page=1&count=1`, api.foreign.providerKey)).status).toBe(403)
  })
})
