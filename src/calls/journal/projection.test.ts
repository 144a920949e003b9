import { describe, expect, it } from 'vitest'
import { covers } from '../../../test/support/covers.ts'
import type { JournalEvent, JournalFact, StartedFact } from './journal.ts'
import { replay, toLiveCall, toRecentCall, type CallFacts } from './projection.ts'
import { toChangePayload, toCommonPayload, toNodePayload } from './hook-payloads.ts'

const started: StartedFact = {
  type: 'started',
  call_sid: 'c1',
  account_sid: 'a1',
  service_provider_sid: 'p1',
  direction: 'inbound',
  from: '+4420',
  to: '1500',
  caller_name: 'Alice',
  calling_number: '+4421',
  sip_call_id: 'x@y',
  trace_id: '0'.repeat(32),
  host: '192.0.2.1',
  local_sip_address: '192.0.2.1:5060',
  remote_host: '192.0.2.9',
  originating_sip_ip: '192.0.2.9',
  trunk: 'user',
  service_url: 'http://192.0.2.1:3000',
  attempted_at: 1000,
  is_record_disabled: false,
}

function journalOf(...facts: readonly JournalFact[]): JournalEvent[] {
  return [started, ...facts].map((fact, index) => ({ seq: index + 1, at: 1000 + index * 1000, ...fact }))
}

function factsOf(...facts: readonly JournalFact[]): CallFacts {
  const sum = replay(journalOf(...facts))
  if (sum === undefined) throw new Error('no facts')
  return sum
}

const trying: JournalFact = { type: 'status', call_status: 'trying', sip_status: 100, sip_reason: 'Trying' }
const answered: JournalFact = {
  type: 'status',
  call_status: 'in-progress',
  sip_status: 200,
  sip_reason: 'OK',
}
const completed: JournalFact = {
  type: 'status',
  call_status: 'completed',
  sip_status: 200,
  sip_reason: 'OK',
  duration: 7,
  call_termination_by: 'caller',
  sip_reason_header: 'Q.850;cause=16',
  headers: { user_agent: 'phone' },
}
const abandoned: JournalFact = {
  type: 'status',
  call_status: 'no-answer',
  sip_status: 487,
  sip_reason: 'Request Terminated',
  call_termination_by: 'caller',
}

describe('the call record', () => {
  it.each([
    {
      name: 'of an answered call the far end hung up',
      facts: [trying, answered, completed, { type: 'ended', termination_reason: 'caller hungup' }],
      record: {
        answered: true,
        sip_status: 200,
        duration: 7,
        answered_at: 3000,
        terminated_at: 4000,
        termination_reason: 'caller hungup',
      },
    },
    {
      name: 'of an abandoned call',
      facts: [trying, abandoned, { type: 'ended', termination_reason: 'caller abandoned' }],
      record: {
        answered: false,
        sip_status: 487,
        duration: 0,
        answered_at: null,
        terminated_at: 3000,
        termination_reason: 'caller abandoned',
      },
    },
    {
      name: 'of a refused call',
      facts: [
        { type: 'refusal', code: 'x', sentence: 's', cure: 'c', sip_status: 480 },
        { type: 'status', call_status: 'failed', sip_status: 480, sip_reason: 'Temporarily Unavailable' },
        { type: 'ended', termination_reason: 'failed' },
      ],
      record: { answered: false, sip_status: 480, duration: 0, termination_reason: 'failed' },
    },
  ] as const)('$name', ({ facts, record }) => {
    expect(toRecentCall(factsOf(...facts))).toMatchObject({ ...record, from: '+4421', attempted_at: 1000 })
  })

  const place = { trunk: 'acme', place: 'gw', sip_gateway_sid: 'g', remote_host: '192.0.2.10' }
  const attempt: JournalFact = {
    type: 'attempt',
    ...place,
    host: '192.0.2.1',
    local_sip_address: '192.0.2.1:5060',
  }
  const ended = {
    trunk: 'acme',
    place: 'first',
    outcome: 'refused',
    cause: '503 Busy',
    post_dial_delay_ms: 9,
  } as const
  const ringing = { type: 'status', call_status: 'ringing', sip_status: 180, sip_reason: 'Ringing' } as const

  it('has what came of each place that the call was sent to, that which its end has cut off included', () => {
    const attemptsOf = (...facts: readonly JournalFact[]) => toRecentCall(factsOf(...facts)).attempts
    const over = { type: 'attempt-ended', ...ended } as const
    expect(attemptsOf()).toBeNull()
    expect(attemptsOf(over)).toEqual([ended])
    expect(attemptsOf(attempt, over, answered)).toEqual([ended])
    const before = { ...place, outcome: 'withdrawn', cause: 'the call was given up before it rang' }
    const rung = { ...before, cause: 'the call was given up while it rang', post_dial_delay_ms: 2000 }
    expect(attemptsOf(attempt, over, attempt, abandoned)).toEqual([ended, before])
    expect(attemptsOf(attempt, trying, ringing, abandoned)).toEqual([rung])
    // The first place rang, not the one that was cut off.
    expect(attemptsOf(attempt, ringing, over, attempt, abandoned)).toEqual([ended, before])
    expect(attemptsOf(...Array.from({ length: 60 }, () => over))).toHaveLength(50)
  })

  it('names the application once one was chosen', () => {
    expect(toRecentCall(factsOf()).application_sid).toBeNull()
    expect(toRecentCall(factsOf({ type: 'application', application_sid: 'app' })).application_sid).toBe('app')
  })
})

describe('the live call', () => {
  it('is trying from its INVITE on and has no duration before its end', () => {
    expect(toLiveCall(factsOf())).toMatchObject({ call_status: 'trying', sip_status: 100, from: '+4420' })
    expect(toLiveCall(factsOf(answered))).not.toHaveProperty('duration')
    expect(toLiveCall(factsOf(answered, completed))).toMatchObject({ call_status: 'completed', duration: 7 })
  })

  it('has the facts that every hook of the call has', () => {
    const dialled = { ...started, parent_call_sid: 'c0', caller_id: '+4420' }
    const events = [dialled, { type: 'tagged', data: { orderId: 7 } }, completed] as const
    const facts = replay(events.map((fact, index) => ({ seq: index + 1, at: 1000, ...fact })))!
    expect(toLiveCall(facts)).toMatchObject({
      ...toCommonPayload(facts),
      ...toNodePayload(facts, { publicIp: undefined, apiBaseUrl: undefined }),
      call_termination_by: 'caller',
    })
  })
})

describe('hook payloads', () => {
  it('leave out what is not known', () => {
    const payload = toCommonPayload(factsOf())
    expect(payload).not.toHaveProperty('application_sid')
    expect(payload).not.toHaveProperty('customerData')
    expect(JSON.parse(JSON.stringify(payload))).toEqual(payload)
  })

  it(
    'carry duration only with completed',
    covers({
      section: 'Events: New call',
      says: '`sip_reason_header` is the Reason header of RFC 3326, and left out when none was carried.',
    }),
    () => {
      expect(toChangePayload(factsOf(abandoned))).toEqual({ call_termination_by: 'caller' })
      expect(toChangePayload(factsOf(answered, completed))).toEqual({
        sip_reason_header: 'Q.850;cause=16',
        call_termination_by: 'caller',
        duration: 7,
        headers: { user_agent: 'phone' },
      })
    },
  )
})

describe('a stored journal', () => {
  it('sums up to the same facts after a trip through JSON, events of unknown types included', () => {
    const events = journalOf(trying, answered, completed)
    const stored = JSON.parse(
      JSON.stringify([...events, { seq: 5, at: 9000, type: 'of-the-future' }]),
    ) as never
    expect(replay(stored)).toEqual(replay(events))
  })

  it('without its beginning has no facts', () => {
    expect(replay(journalOf(trying).slice(1))).toBeUndefined()
  })
})
