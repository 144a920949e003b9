import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { covers } from '../../test/support/covers.ts'
import type { LiveCall } from '../calls/calls.ts'
import type { JournalEvent } from '../calls/journal.ts'
import type { CallAttempt } from '../contracts/call-record.ts'
import type { IdentityFinding } from '../contracts/number-trust.ts'
import { createSid } from '../lib/ids.ts'
import { openTestApi, type TestApi } from '../../test/support/api.ts'
import type { TestTenant } from '../../test/support/api-tenants.ts'

const start = Date.parse('2026-11-20T10:00:00.000Z')
const minute = 60_000

const attempt: CallAttempt = {
  trunk: 'acme',
  place: 'gw.example.com',
  outcome: 'refused',
  cause: '486 Busy Here',
  sip_status: 486,
  post_dial_delay_ms: 120,
}

const finding: IdentityFinding = {
  verstat: 'TN-Validation-Failed',
  code: 'identity_stale',
  reason: 'too old',
}

const noSound = { code: 'no_media_received', sentence: 'no packet has come', cure: 'Open the ports.' }
const failure = { code: 'call_lost', sentence: 'its process was killed', cure: 'Call again.' }

let api: TestApi
const sids: string[] = []
beforeAll(async () => {
  api = await openTestApi()
  // One a minute: 0 and 2 are answered, 1 is outbound; the last one is the sibling's.
  for (let number = 0; number < 4; number++)
    sids.push(writeCall(number === 3 ? api.sibling : api.own, number))
  await api.storage.calls.flush()
})
afterAll(() => api.close())

function writeCall({ account_sid, service_provider_sid }: TestTenant, number: number): string {
  const call_sid = createSid()
  const at = start + number * minute
  const isAnswered = number % 2 === 0
  api.storage.calls.write(
    {
      call_sid,
      account_sid,
      events: [{ seq: 1, at, type: 'decision', rule: 'test' }],
      notifications: [],
      record: {
        account_sid,
        service_provider_sid,
        application_sid: null,
        call_sid,
        sip_call_id: `id-${number}`,
        sip_parent_call_id: number === 1 ? 'id-0' : null,
        parent_call_sid: number === 1 ? (sids[0] ?? null) : null,
        from: `+49301${number}`,
        to: `20${number}`,
        direction: number === 1 ? 'outbound' : 'inbound',
        answered: isAnswered,
        sip_status: isAnswered ? 200 : 487,
        duration: isAnswered ? 7 : 0,
        attempted_at: at,
        answered_at: isAnswered ? at + 1000 : null,
        terminated_at: at + 8000,
        termination_reason: 'caller hungup',
        host: '127.0.0.1',
        remote_host: '192.0.2.1',
        trunk: 'user',
        trace_id: '0'.repeat(32),
        recording_url: null,
        attempts: number === 1 ? [attempt] : null,
        stir_shaken: number === 0 ? finding : null,
        failure: number === 1 ? failure : null,
        media_failure: number === 0 ? noSound : null,
      },
    },
    'now',
  )
  return call_sid
}

const path = () => `/Accounts/${api.own.account_sid}/RecentCalls`

async function found(query: string): Promise<string[]> {
  const answer = await api.get(`${path()}?page=1&count=25&${query}`, api.own.accountKey)
  expect(answer.status).toBe(200)
  return (answer.body as { data: { call_sid: string }[] }).data.map(({ call_sid }) => call_sid)
}

describe('GET /Accounts/{sid}/RecentCalls', () => {
  it(
    'answers the envelope in integers, newest first',
    covers(
      { section: 'Notation', says: 'Times in call records are integers.' },
      {
        section: 'Endpoints: Recent calls',
        says: '`total` counts what matches, `batch` what is on this page.',
      },
    ),
    async () => {
      const answer = await api.get(`${path()}?page=1&count=2`, api.own.accountKey)
      expect(answer.body).toMatchObject({ total: 3, batch: 2, page: 1, page_size: 2 })
      const { data } = answer.body as { data: object[] }
      expect(data[0]).toEqual({
        account_sid: api.own.account_sid,
        service_provider_sid: api.own.service_provider_sid,
        call_sid: sids[2],
        from: '+493012',
        to: '202',
        answered: true,
        sip_status: 200,
        duration: 7,
        attempted_at: start + 2 * minute,
        answered_at: start + 2 * minute + 1000,
        terminated_at: start + 2 * minute + 8000,
        direction: 'inbound',
        sip_call_id: 'id-2',
        sip_callid: 'id-2',
        termination_reason: 'caller hungup',
        host: '127.0.0.1',
        remote_host: '192.0.2.1',
        trunk: 'user',
        trace_id: '0'.repeat(32),
      })
      const next = await api.get(`${path()}?page=2&count=2`, api.own.accountKey)
      expect(next.body).toMatchObject({ total: 3, batch: 1, page: 2 })
      expect((next.body as { data: object[] }).data[0]).toHaveProperty('call_sid', sids[0])
    },
  )

  it('names the call that has dialled a leg, and no other', async () => {
    const answer = await api.get(`${path()}?page=1&count=25`, api.own.accountKey)
    const { data } = answer.body as { data: object[] }
    expect(data[1]).toMatchObject({ parent_call_sid: sids[0], sip_parent_callid: 'id-0' })
    for (const other of [data[0], data[2]]) expect(other).not.toHaveProperty('parent_call_sid')
  })

  it('shows the outcome at each place that an outbound call was sent to', async () => {
    const answer = await api.get(`${path()}?page=1&count=1&direction=outbound`, api.own.accountKey)
    expect((answer.body as { data: object[] }).data[0]).toHaveProperty('attempts', [attempt])
  })

  it('says what the Identity header of a call proves', async () => {
    expect(await found('direction=inbound')).toContain(sids[0])
    const answer = await api.get(`${path()}?page=2&count=2`, api.own.accountKey)
    expect((answer.body as { data: object[] }).data[0]).toHaveProperty('stir_shaken', finding)
  })

  it('says why the platform ended a call, and nothing where it did not', async () => {
    const answer = await api.get(`${path()}?page=1&count=10`, api.own.accountKey)
    const calls = (answer.body as { data: { call_sid: string }[] }).data
    expect(calls.find(({ call_sid }) => call_sid === sids[1])).toHaveProperty('failure', failure)
    expect(calls.find(({ call_sid }) => call_sid === sids[0])).not.toHaveProperty('failure')
    expect(calls.find(({ call_sid }) => call_sid === sids[0])).toHaveProperty('media_failure', noSound)
    expect(calls.find(({ call_sid }) => call_sid === sids[1])).not.toHaveProperty('media_failure')
  })

  it('leaves answered_at out of a call that was not answered', async () => {
    const answer = await api.get(`${path()}?page=1&count=1&answered=false`, api.own.accountKey)
    const [call] = (answer.body as { data: object[] }).data
    expect(call).not.toHaveProperty('answered_at')
    expect(call).toMatchObject({ answered: false, duration: 0 })
  })

  it(
    'filters by answer, direction, number, call and time',
    covers(
      {
        section: 'Endpoints: Recent calls',
        says: '`days`, `start`, `end`, `answered`, `direction` and `filter` are optional.',
      },
      {
        section: 'Not shown',
        says: 'The format of `start` and `end`, the meaning of `days`.',
        chosen:
          'ISO 8601 or epoch milliseconds, both inclusive; the last N times 24 hours, which wins over both.',
      },
    ),
    async () => {
      expect(await found('answered=true')).toEqual([sids[2], sids[0]])
      expect(await found('direction=outbound')).toEqual([sids[1]])
      expect(await found('filter=93011')).toEqual([sids[1]])
      expect(await found(`filter=${sids[0]}`)).toEqual([sids[0]])
      expect(await found('trunk=user')).toHaveLength(3)
      expect(await found('trunk=use')).toHaveLength(0)
      // Browsers send the time like this, with its colons.
      expect(await found('start=2026-11-20T10:01:00.000Z')).toEqual([sids[2], sids[1]])
      expect(await found(`end=${start}`)).toEqual([sids[0]])
      expect(await found('start=2026-11-20T10:01:00Z&end=2026-11-20T10:01:00Z')).toEqual([sids[1]])
    },
  )

  it.each([
    ['', 'page and count are required'],
    ['page=1', 'count is required'],
    ['page=0&count=1', 'page must be at least 1'],
    ['page=1&count=501', 'count must be at most 500'],
    ['page=one&count=1', 'page must be a whole number'],
    ['page=1&count=1&start=yesterday', 'start must be an ISO 8601 time'],
    ['page=1&count=1&answered=maybe', 'answered must be true or false'],
    ['page=1&count=1&direction=up', 'direction must be one of'],
    ['page=1&count=1&days=0', 'days must be at least 1'],
  ])('answers 400 for ?%s', async (query, msg) => {
    const answer = await api.get(`${path()}?${query}`, api.own.accountKey)
    expect(answer.status).toBe(400)
    expect((answer.body as { msg: string }).msg).toContain(msg)
  })

  it('answers 403 for a foreign account, 404 to an administrator for an unknown one', async () => {
    expect((await api.get(`${path()}?page=1&count=1`, api.sibling.accountKey)).status).toBe(403)
    const unknown = `/Accounts/${createSid()}/RecentCalls?page=1&count=1`
    expect((await api.get(unknown, api.adminKey)).status).toBe(404)
  })
})

describe('GET /Accounts/{sid}/RecentCalls/{call_sid}/journal', () => {
  it('answers the story of a call that has ended, from storage', async () => {
    const answer = await api.get(`${path()}/${sids[0]}/journal`, api.own.accountKey)
    expect(answer.body).toEqual([{ seq: 1, at: start, type: 'decision', rule: 'test' }])
  })

  it('answers that of a live call from the engine', async () => {
    const call_sid = createSid()
    const events = [{ seq: 1, at: start, type: 'sip' } as JournalEvent]
    api.calls.push({ account_sid: api.own.account_sid, call_sid } as LiveCall)
    api.journals.set(call_sid, events)
    expect((await api.get(`${path()}/${call_sid}/journal`, api.own.accountKey)).body).toEqual(events)
  })

  it('answers 404 for an unknown call and one of another account', async () => {
    for (const sid of [createSid(), sids[3]])
      expect((await api.get(`${path()}/${sid}/journal`, api.own.accountKey)).status).toBe(404)
  })
})
