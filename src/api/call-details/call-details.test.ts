import { spawnSync } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { LiveCall } from '../../calls/calls.ts'
import type { JournalEvent } from '../../calls/journal.ts'
import { createSid } from '../../lib/ids.ts'
import { endedCall } from '../../../test/support/ended-calls.ts'
import { openTestApi, type TestApi } from '../../../test/support/api.ts'
import type { TestTenant } from '../../../test/support/api-tenants.ts'
import { isMissing } from '../../../test/support/tools.ts'
import type { Span, toTrace } from './trace.ts'

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
const events = [
  sip(1, 'INVITE'),
  { seq: 2, at: 1, type: 'note', sentence: 's' } as const,
  { ...sip(4, '200 OK'), is_repeated: true as const },
]

async function endCall(
  tenant: TestTenant,
  sip_call_id: string,
  story: readonly JournalEvent[] = events,
): Promise<string> {
  const call = endedCall(tenant, { attempted_at: 1, from: '1', to: '2', sip_call_id })
  api.storage.calls.write({ ...call, events: story }, 'now')
  await api.storage.calls.flush()
  return call.call_sid
}

const ofAccount = (id: string, token: string, { account_sid }: TestTenant = api.own) =>
  api.get(`/Accounts/${account_sid}/RecentCalls/${encodeURIComponent(id)}`, token)
const ofProvider = (id: string, token: string) =>
  api.get(`/ServiceProviders/${api.own.service_provider_sid}/RecentCalls/${encodeURIComponent(id)}`, token)

describe('the SIP messages of a call', () => {
  it('are returned for an ended call, in their order, to each caller that may see it', async () => {
    const call_sid = await endCall(api.own, 'ended@192.0.2.1')
    const message = { call_sid, remote: 'udp 192.0.2.1:5060' }
    const expected = {
      total: 2,
      messages: [
        {
          ...message,
          at: 1001,
          direction: 'received',
          summary: 'INVITE',
          raw: 'INVITE raw',
          is_repeated: false,
        },
        { ...message, at: 1004, direction: 'sent', summary: '200 OK', raw: '200 OK raw', is_repeated: true },
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

  it('are none for an unknown call and for one of another account', async () => {
    await endCall(api.sibling, 'theirs')
    const none = { total: 0, messages: [] }
    expect((await ofAccount('unknown', api.own.accountKey)).body).toEqual(none)
    expect((await ofAccount('theirs', api.own.accountKey)).body).toEqual(none)
    expect((await ofAccount('theirs', api.own.providerKey)).body).toEqual(none)
    expect((await ofProvider('theirs', api.own.providerKey)).body).toMatchObject({ total: 2 })
    await endCall(api.foreign, 'foreign')
    expect((await ofProvider('foreign', api.adminKey)).body).toEqual(none)
  })

  it('are for the account and those above it only', async () => {
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

describe('a capture of a call', () => {
  const path = (id: string, method = 'invite', { account_sid } = api.own) =>
    `/Accounts/${account_sid}/RecentCalls/${encodeURIComponent(id)}/${method}/pcap`
  const local = { seq: 1, at: 1, type: 'started' }
  const message = (seq: number, at: number, direction: string, remote: string, raw: string): JournalEvent =>
    ({ seq, at, type: 'sip', direction, summary: '', remote, raw }) as JournalEvent

  it.skipIf(isMissing('tcpdump')).each([
    ['udp', '192.0.2.9:5070', '192.0.2.1:5060', 'IP 192.0.2.1.5060 > 192.0.2.9.5070'],
    ['tcp', '192.0.2.9:5070', '192.0.2.1:40000', 'IP 192.0.2.1.40000 > 192.0.2.9.5070'],
    ['udp', '[2001:db8::9]:5070', '2001:db8::1:5060', 'IP6 2001:db8::1.5060 > 2001:db8::9.5070'],
    ['tcp', '[2001:db8::9]:5070', '2001:db8::1:40000', 'IP6 2001:db8::1.40000 > 2001:db8::9.5070'],
  ])('is read by tcpdump: %s to %s', async (transport, local_sip_address, remote, addresses) => {
    const id = `capture ${transport} ${remote}`
    const invite = 'INVITE sip:1@192.0.2.9 SIP/2.0\r\nSubject: \u00fcber\r\n\r\n'
    await endCall(api.own, id, [
      { ...local, local_sip_address } as unknown as JournalEvent,
      message(2, 1_700_000_000_123, 'received', `${transport}:${remote}`, invite),
      message(3, 1_700_000_000_250, 'sent', `${transport}:${remote}`, 'SIP/2.0 200 OK\r\n\r\n'),
      message(4, 1_700_000_001_000, 'received', `${transport}:${remote}`, 'ACK sip:1 SIP/2.0\r\n\r\n'),
    ])
    const { status, headers, bytes } = await api.get(path(id), api.own.accountKey)
    expect([status, headers['content-type']]).toEqual([200, 'application/octet-stream'])
    expect(headers['content-disposition']).toMatch(/^attachment; filename="callid-[\w.@-]+\.pcap"$/)
    const { stdout, stderr } = spawnSync('tcpdump', ['-nn', '-tttt', '-vvv', '-A', '-r', '-'], {
      input: bytes,
      env: { ...process.env, TZ: 'UTC' },
      encoding: 'utf8',
    })
    expect(stderr).not.toMatch(/truncated|error/i)
    const packets = stdout.split(/^(?=\d{4}-)/m)
    expect(packets).toHaveLength(3)
    expect(packets[0]).toContain('2023-11-14 22:13:20.123000')
    const [proto, from] = addresses.split(' ')
    expect(packets.every((packet) => packet.includes(`${proto} `))).toBe(true)
    expect(packets[0]?.replaceAll('\n', ' ')).toContain(addresses.slice(addresses.indexOf(' ') + 1))
    expect(packets[1]?.replaceAll('\n', ' ')).toContain(`5070 > ${from}`)
    expect(stdout).toContain('INVITE sip:1@192.0.2.9')
    expect(stdout).toContain('SIP/2.0 200 OK')
    expect(stdout).not.toMatch(/bad|incorrect/)
    if (transport === 'udp') expect(stdout.match(/\[udp sum ok\]/g)).toHaveLength(3)
    else expect(stdout.match(/\(correct\)/g)).toHaveLength(3)
    // The client's second segment begins where its first ended.
    if (transport === 'tcp') expect(packets[2]).toContain(`seq ${Buffer.byteLength(invite)}:`)
  })

  it('is not there for an unknown call, one of another account, a registration', async () => {
    await endCall(api.own, 'kept', [message(1, 1, 'received', 'udp:192.0.2.1:5060', 'INVITE')])
    await endCall(api.sibling, 'not mine', [message(1, 1, 'received', 'udp:192.0.2.1:5060', 'INVITE')])
    const key = api.own.accountKey
    expect((await api.get(path('kept'), key)).status).toBe(200)
    expect((await api.get(path('unknown'), key)).status).toBe(404)
    expect((await api.get(path('not mine'), key)).status).toBe(404)
    expect((await api.get(path('kept', 'register'), key)).status).toBe(404)
    expect((await api.get(path('not mine', 'invite', api.sibling), key)).status).toBe(403)
    const ofProvider = `/ServiceProviders/${api.own.service_provider_sid}/RecentCalls/kept/invite/pcap`
    expect((await api.get(ofProvider, api.own.providerKey)).status).toBe(200)
    expect((await api.get(ofProvider, key)).status).toBe(403)
  })

  it('of a journal without addresses still holds its messages', async () => {
    await endCall(api.own, 'odd', [message(1, 1, 'sent', 'nonsense', 'BYE sip:1 SIP/2.0')])
    const { bytes } = await api.get(path('odd'), api.own.accountKey)
    expect(bytes.subarray(0, 4).toString('hex')).toBe('d4c3b2a1')
    expect(bytes.toString()).toContain('BYE sip:1 SIP/2.0')
  })
})

describe('the trace and the log of a call', () => {
  const story = [
    { seq: 1, at: 1000, type: 'started', direction: 'inbound', from: '1', is_record_disabled: false },
    {
      seq: 2,
      at: 1001,
      type: 'sip',
      direction: 'received',
      summary: 'INVITE',
      remote: 'r',
      raw: 'INVITE raw',
    },
    { seq: 3, at: 1010, type: 'hook-asked', hook: 'call', method: 'POST', url: 'https://a.example.com/' },
    { seq: 4, at: 1030, type: 'hook-answered', hook: 'call', status: 200, verbs: ['say', 'hangup'] },
    { seq: 5, at: 1031, type: 'verb-started', verb: 'say' },
    { seq: 6, at: 1040, type: 'digit', digit: '5', duration_ms: 100, source: 'rtp' },
    { seq: 7, at: 2000, type: 'verb-ended', verb: 'say', outcome: 'done', duration_ms: 969 },
    { seq: 8, at: 2001, type: 'verb-started', verb: 'pause' },
    { seq: 9, at: 3000, type: 'ended', termination_reason: 'caller hungup' },
  ] as unknown as readonly JournalEvent[]

  it('says when each hook and verb began and ended, within the call', async () => {
    const call_sid = await endCall(api.own, 'traced', story)
    const trace_id = call_sid.replaceAll('-', '')
    const path = `/Accounts/${api.own.account_sid}/RecentCalls/trace/${trace_id}`
    const { status, body } = await api.get(path, api.own.accountKey)
    expect(status).toBe(200)
    const trace = body as ReturnType<typeof toTrace> & {
      resourceSpans: [{ instrumentationLibrarySpans: [{ spans: Span[] }] }]
    }
    const { spans } = trace.resourceSpans[0].instrumentationLibrarySpans[0]
    const [root] = spans
    const told = spans.map(({ name, startTimeUnixNano, endTimeUnixNano }) => [
      name,
      Number(startTimeUnixNano) / 1e6,
      Number(endTimeUnixNano) / 1e6,
    ])
    expect(told).toEqual([
      ['inbound call', 1000, 3000],
      ['hook call', 1010, 1030],
      ['verb say', 1031, 2000],
      ['digit 5', 1040, 1040],
      // A verb without an end ends with the call.
      ['verb pause', 2001, 3000],
    ])
    expect(spans.map(({ traceId }) => traceId)).toEqual(spans.map(() => trace_id))
    expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(spans.length)
    expect(spans.slice(1).every(({ parentSpanId }) => parentSpanId === root?.spanId)).toBe(true)
    expect(spans[1]?.attributes).toContainEqual({ key: 'status', value: { doubleValue: 200 } })
    expect(spans[1]?.attributes).toContainEqual({ key: 'verbs', value: { stringValue: 'say, hangup' } })
    expect(root?.attributes).toContainEqual({ key: 'is_record_disabled', value: { boolValue: false } })
    expect(root?.attributes).toContainEqual({
      key: 'termination_reason',
      value: { stringValue: 'caller hungup' },
    })
  })

  it('ends each recognition with its own end, though several run at once', async () => {
    const recognition = (seq: number, at: number, part: 'started' | 'ended', recogniser: string) =>
      ({ seq, at, type: `recognition-${part}`, recogniser, vendor: 'deepgram' }) as const
    const call_sid = await endCall(api.own, 'heard twice', [
      { seq: 1, at: 1000, type: 'started', direction: 'inbound' },
      recognition(2, 1100, 'started', 'background'),
      recognition(3, 1200, 'started', 'gather'),
      recognition(4, 1300, 'ended', 'gather'),
      recognition(5, 1400, 'ended', 'background'),
    ] as unknown as readonly JournalEvent[])
    const path = `/Accounts/${api.own.account_sid}/RecentCalls/trace/${call_sid.replaceAll('-', '')}`
    const { body } = await api.get(path, api.own.accountKey)
    const trace = body as { resourceSpans: [{ instrumentationLibrarySpans: [{ spans: Span[] }] }] }
    const { spans } = trace.resourceSpans[0].instrumentationLibrarySpans[0]
    expect(spans.slice(1).map(({ name, endTimeUnixNano }) => [name, Number(endTimeUnixNano) / 1e6])).toEqual([
      ['recognition background by deepgram', 1400],
      ['recognition gather by deepgram', 1300],
    ])
  })

  it('are lines of text as well', async () => {
    const call_sid = await endCall(api.own, 'logged', story)
    const path = `/Accounts/${api.own.account_sid}/RecentCalls/${call_sid}/logs`
    const { status, body } = await api.get(path, api.own.accountKey)
    expect([status, (body as string[]).length]).toEqual([200, story.length])
    expect((body as string[])[4]).toBe('1970-01-01T00:00:01.031Z verb-started {"verb":"say"}')
    expect(JSON.stringify(body)).not.toContain('INVITE raw')
  })

  it('are not there for an unknown call, and not for one of another account', async () => {
    const theirs = await endCall(api.sibling, 'their trace', story)
    for (const call_sid of [createSid(), theirs])
      for (const path of [`trace/${call_sid.replaceAll('-', '')}`, `${call_sid}/logs`]) {
        const { status } = await api.get(
          `/Accounts/${api.own.account_sid}/RecentCalls/${path}`,
          api.own.accountKey,
        )
        expect([path, status]).toEqual([path, 404])
      }
  })
})

describe('the SIP messages of a call that is named by its call_sid', () => {
  it('are found, of an ended call and of a live one; a call_sid of no call is 404', async () => {
    const call_sid = await endCall(api.own, 'by-sid@192.0.2.1')
    for (const found of [
      await ofAccount(call_sid, api.own.accountKey),
      await ofProvider(call_sid, api.own.providerKey),
    ])
      expect(found).toMatchObject({ status: 200, body: { total: 2, messages: [{ call_sid }, { call_sid }] } })
    const { account_sid, service_provider_sid } = api.own
    const live = createSid()
    api.calls.push({ account_sid, service_provider_sid, call_sid: live, call_id: 'live/2' } as LiveCall)
    api.journals.set(live, events)
    expect((await ofAccount(live, api.own.accountKey)).body).toMatchObject({ total: 2 })
    expect((await ofAccount(createSid(), api.own.accountKey)).status).toBe(404)
    expect((await ofAccount(await endCall(api.sibling, 'x'), api.own.accountKey)).status).toBe(404)
  })
})
