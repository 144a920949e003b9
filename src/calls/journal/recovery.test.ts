import { describe, expect, it } from 'vitest'
import { entryOf } from '../../lib/errors.ts'
import { application } from '../../../test/support/scripted-engine/scripted-facts.ts'
import { MemoryCallStore } from '../../../test/support/scripted-engine/memory-call-store.ts'
import { settle } from '../../../test/support/scripted-engine/turns.ts'
import { failureFields } from '../../../test/support/reason-fields.ts'
import type { UnfinishedCall } from '../../contracts/call-record.ts'
import { silentLogger } from '../../lib/log.ts'
import type { ApplicationFacts } from '../ports.ts'
import type { JournalEvent, JournalFact, StartedFact } from './journal.ts'
import { createRecovery, type Recovery } from './recovery.ts'

const started = {
  type: 'started',
  call_sid: 'c1',
  account_sid: 'a1',
  service_provider_sid: 'p1',
  direction: 'inbound',
  from: '+4420',
  to: '1500',
  calling_number: '+4420',
  sip_call_id: 'x@y',
  local_sip_address: '192.0.2.1:5060',
  trunk: 'user',
  attempted_at: 1000,
  is_record_disabled: false,
} as StartedFact

const chosen: JournalFact = { type: 'application', application_sid: application.application_sid }
const trying: JournalFact = { type: 'status', call_status: 'trying', sip_status: 100, sip_reason: 'Trying' }
const rang: JournalFact = { type: 'rang' }
const answered: JournalFact = {
  type: 'status',
  call_status: 'in-progress',
  sip_status: 200,
  sip_reason: 'OK',
}
const note: JournalFact = { type: 'note', sentence: 'still there' }

const queueEventHook = {
  url: 'http://app.test/queue-event',
  method: 'POST',
  username: null,
  password: null,
} as const

const failure = {
  code: 'call_lost',
  sentence: 'the process that carried the call ended without ending the call',
  cure: entryOf('call_lost').cure,
}

/** Events 2.5 s apart. */
const journalOf = (...facts: readonly JournalFact[]): JournalEvent[] =>
  facts.map((fact, index) => ({ seq: index + 1, at: 1000 + index * 2500, ...fact }))

interface Recovered {
  readonly store: MemoryCallStore
  readonly recovery: Recovery
  readonly warned: unknown[]
  readonly failed: unknown[]
  readonly hungUp: unknown[]
}

async function recover(
  calls: readonly (readonly JournalEvent[])[],
  found: ApplicationFacts | null | Error = application,
  signs: Pick<UnfinishedCall, 'alive_at' | 'dialog'> = {},
  eventHook: typeof queueEventHook | null | Error = queueEventHook,
): Promise<Recovered> {
  const store = new MemoryCallStore()
  for (const [index, events] of calls.entries())
    store.left.push({ call_sid: `c${index + 1}`, account_sid: 'a1', events, ...signs })
  const warned: unknown[] = []
  const failed: unknown[] = []
  const hungUp: unknown[] = []
  const recovery = createRecovery({
    store,
    directory: {
      application: () =>
        found instanceof Error ? Promise.reject(found) : Promise.resolve(found ?? undefined),
      queueEventHook: () =>
        eventHook instanceof Error ? Promise.reject(eventHook) : Promise.resolve(eventHook),
    },
    node: () => ({ publicIp: '203.0.113.1', apiBaseUrl: undefined }),
    hangUp: (dialog, headers) => void hungUp.push({ dialog, headers }),
    log: {
      ...silentLogger,
      warn: (...line: unknown[]) => void warned.push(line),
      error: (...line: unknown[]) => void failed.push(line),
    },
  })
  recovery.run()
  await settle()
  return { store, recovery, warned, failed, hungUp }
}

describe('a call that was left in mid-call', () => {
  it('ends at the last sign of life of its process, in its journal, its record and its notification', async () => {
    const events = journalOf(started, chosen, trying, answered)
    const { store } = await recover([events], application, { alive_at: 108_700 })
    expect(store.records).toMatchObject([{ answered_at: 8500, terminated_at: 108_700, duration: 100 }])
    expect(store.journalOf('c1')).toMatchObject([
      { at: 108_700 },
      { at: 108_700 },
      { at: 108_700, duration: 100 },
      { at: 108_700 },
    ])
    expect(store.notifications).toMatchObject([{ call_status: 'completed', duration: 100 }])
  })

  it('is hung up in its dialog, if it was answered, with the reason', async () => {
    const events = journalOf(started, chosen, trying, answered)
    const { hungUp } = await recover([events], application, { dialog: '{"callId":"abc"}' })
    expect(hungUp).toEqual([
      {
        dialog: { callId: 'abc' },
        headers: failureFields(
          'call_lost',
          'the process that carried the call ended without ending the call',
        ),
      },
    ])
    expect((await recover([events])).hungUp).toEqual([])
    expect((await recover([events], application, { dialog: 'broken' })).store.records).toHaveLength(1)
  })

  it('has left the queue in which it waited, in its journal and for the account', async () => {
    const queued = { type: 'queued', queue: 'support', position: 3, length: 4, priority: 999 } as const
    const { store } = await recover([journalOf(started, chosen, trying, answered, queued)], application, {
      alive_at: 21_000,
    })
    const left = { queue: 'support', length: 0, leave_reason: 'abandoned' }
    expect(store.journalOf('c1').filter(({ type }) => type === 'unqueued')).toMatchObject([
      { ...left, waited_ms: 10_000, because: 'platform stopped in mid-call' },
    ])
    expect(store.notifications).toMatchObject([
      { call_status: 'completed' },
      { ...left, event: 'leave', leave_time: 21_000, call_sid: 'c1', call_status: 'completed' },
    ])
    expect(store.records).toHaveLength(1)
  })

  it.each<[string, JournalFact[], number]>([
    ['waited for', [{ type: 'room-waiting', room: 'team' }], 1],
    [
      'was in',
      [
        { type: 'room-waiting', room: 'team' },
        { type: 'room-joined', room: 'team', members: 2 },
      ],
      1,
    ],
    [
      'had left',
      [
        { type: 'room-joined', room: 'team', members: 2 },
        { type: 'room-left', room: 'team', because: 'x' },
      ],
      0,
    ],
  ])('says that the call has left the conference that it %s', async (_, facts, count) => {
    const { store } = await recover([journalOf(started, chosen, trying, answered, ...facts, note)])
    const left = store.journalOf('c1').filter(({ type }) => type === 'room-left')
    const because = 'platform stopped in mid-call'
    expect(left).toMatchObject(Array.from({ length: count }, () => ({ room: 'team', because })))
  })

  it.each([
    ['has no queue_event_hook', null, 0],
    ['has one that cannot be found', new Error('the database is away'), 1],
  ])(
    'has left its queue where the account %s: its end is written all the same',
    async (_what, hook, warnings) => {
      const queued = { type: 'queued', queue: 'support', position: 3, length: 4, priority: 999 } as const
      const { store, warned } = await recover(
        [journalOf(started, chosen, trying, answered, queued)],
        application,
        {},
        hook,
      )
      expect(store.journalOf('c1').map(({ type }) => type)).toEqual(
        expect.arrayContaining(['ended', 'unqueued']),
      )
      expect(store.batches[0]?.notifications.map(({ hook: { url } }) => url)).toEqual([
        'http://app.test/status',
      ])
      // One warning reports that the call was closed.
      expect([store.records.length, warned.length - 1]).toEqual([1, warnings])
    },
  )

  it('has not left a queue that it had left before', async () => {
    const queued = { type: 'queued', queue: 'support', position: 0, length: 1, priority: 999 } as const
    const unqueued = {
      type: 'unqueued',
      queue: 'support',
      leave_reason: 'dequeued',
      length: 0,
      waited_ms: 2500,
      because: 'an agent took the call',
    } as const
    const { store } = await recover([journalOf(started, chosen, trying, answered, queued, unqueued)])
    expect(store.notifications).toMatchObject([{ call_status: 'completed' }])
    expect(store.journalOf('c1').some(({ type }) => type === 'unqueued')).toBe(false)
  })

  it('ends with its last event when that is later than the sign', async () => {
    const events = journalOf(started, chosen, trying, answered, note)
    const { store } = await recover([events], application, { alive_at: 9000 })
    expect(store.records).toMatchObject([{ terminated_at: 11_000, duration: 2 }])
  })

  it('ends as completed at the last moment that its journal knows of, when it was answered and no sign is known', async () => {
    const { store, warned } = await recover([journalOf(started, chosen, trying, answered, note)])
    expect(store.records).toMatchObject([
      {
        answered: true,
        sip_status: 200,
        answered_at: 8500,
        terminated_at: 11_000,
        duration: 2,
        termination_reason: 'platform stopped in mid-call',
        failure,
      },
    ])
    expect(store.notifications).toMatchObject([
      {
        call_status: 'completed',
        sip_status: 200,
        sip_reason: 'OK',
        duration: 2,
        call_termination_by: 'jambonz',
        fs_sip_address: '192.0.2.1:5060',
        fs_public_ip: '203.0.113.1',
        failure,
      },
    ])
    expect(warned).toEqual([[{ calls: 1, ...failure }, 'calls of a dead node were ended']])
  })

  it('ends as failed with 503 when it was not answered', async () => {
    const { store } = await recover([journalOf(started, chosen, trying)])
    expect(store.records).toMatchObject([
      { answered: false, sip_status: 503, answered_at: null, terminated_at: 6000, duration: 0 },
    ])
    expect(store.notifications).toMatchObject([
      { call_status: 'failed', sip_status: 503, sip_reason: 'Service Unavailable', failure },
    ])
  })

  it('has the rule, the last status and the end added to its journal, numbered on', async () => {
    const { store } = await recover([journalOf(started, chosen, trying, answered)])
    expect(store.journalOf('c1')).toMatchObject([
      { seq: 5, at: 8500, type: 'decision', rule: 'recovery', outcome: 'platform stopped in mid-call' },
      { seq: 6, at: 8500, type: 'refusal', ...failure },
      { seq: 7, at: 8500, type: 'status', call_status: 'completed', duration: 0 },
      { seq: 8, at: 8500, type: 'ended', termination_reason: 'platform stopped in mid-call' },
    ])
  })

  it('has its status hook notified, for the account', async () => {
    const { store } = await recover([journalOf(started, chosen, trying, answered)])
    expect(store.batches.flatMap(({ notifications }) => notifications)).toMatchObject([
      { account_sid: 'a1', call_sid: 'c1', hook: { url: 'http://app.test/status' } },
    ])
  })

  it('is not measured backwards when the clock was set back', async () => {
    const events = journalOf(started, chosen, trying, answered, note).map((event) =>
      event.type === 'note' ? { ...event, at: 10 } : event,
    )
    const { store } = await recover([events])
    expect(store.records).toMatchObject([{ duration: 0 }])
  })

  it.each<[string, readonly JournalFact[], ApplicationFacts | null | Error]>([
    ['of which no status hook has heard', [started, chosen], application],
    [
      'whose application had not taken it yet, though its caller heard ringing',
      [started, chosen, rang],
      application,
    ],
    ['without an application', [started, trying], application],
    ['whose application is gone', [started, chosen, trying], null],
    [
      'whose application has no status hook',
      [started, chosen, trying],
      { ...application, call_status_hook: null },
    ],
    ['whose application cannot be looked up', [started, chosen, trying], new Error('the database is away')],
  ])('%s has its record, and notifies nothing', async (_, facts, found) => {
    const { store, warned } = await recover([journalOf(...facts)], found)
    expect(store.records).toHaveLength(1)
    expect(store.notifications).toEqual([])
    const isBroken = found instanceof Error
    expect(warned).toHaveLength(isBroken ? 2 : 1)
    if (isBroken)
      expect(warned[0]).toEqual([
        { err: found, call_sid: 'c1' },
        'status hook of an unfinished call could not be found',
      ])
  })

  it('is closed without a record for an account that keeps none', async () => {
    const { store } = await recover([
      journalOf({ ...started, is_record_disabled: true }, chosen, trying, answered),
    ])
    expect(store.records).toEqual([])
    expect(store.batches).toMatchObject([{ ended: true, notifications: [{ call_sid: 'c1' }] }])
  })
})

describe('a journal of which only the closing was lost', () => {
  const ended = [
    started,
    chosen,
    trying,
    { type: 'status', call_status: 'no-answer', sip_status: 487, sip_reason: 'Request Terminated' },
    { type: 'ended', termination_reason: 'caller abandoned' },
  ] as const satisfies readonly JournalFact[]

  it('keeps the end that it has, and notifies nothing again', async () => {
    const { store } = await recover([journalOf(...ended)])
    expect(store.records).toMatchObject([{ sip_status: 487, termination_reason: 'caller abandoned' }])
    expect(store.batches).toMatchObject([
      { call_sid: 'c1', account_sid: 'a1', events: [], notifications: [] },
    ])
  })
})

describe('a journal without its beginning', () => {
  it('is closed, and is an error of the platform', async () => {
    const { store, failed } = await recover([journalOf(started, trying).slice(1)])
    expect(store.batches).toEqual([
      { account_sid: 'a1', call_sid: 'c1', events: [], notifications: [], ended: true },
    ])
    expect(failed).toEqual([
      [{ call_sid: 'c1' }, 'journal of an unfinished call lacks its beginning: no record'],
    ])
  })
})

describe('a recovery', () => {
  it('goes on until nothing is left, each batch written before the next is adopted', async () => {
    const store = new MemoryCallStore()
    const log: string[] = []
    const batches = [['c1', 'c2'], ['c3'], []]
    store.adopt = () => {
      log.push('adopt')
      const calls = (batches.shift() ?? []).map((call_sid) => ({
        call_sid,
        account_sid: 'a1',
        events: journalOf({ ...started, call_sid }, trying),
      }))
      return Promise.resolve(calls)
    }
    store.flush = async () => void log.push(`flush ${store.records.length}`)
    const recovery = createRecovery({
      store,
      directory: {
        application: () => Promise.resolve(application),
        queueEventHook: () => Promise.resolve(null),
      },
      hangUp: () => undefined,
      node: () => ({ publicIp: undefined, apiBaseUrl: undefined }),
      log: silentLogger,
    })
    recovery.run()
    await settle()
    expect(log).toEqual(['adopt', 'flush 2', 'adopt', 'flush 3', 'adopt'])
  })

  it('that finds nothing says nothing', async () => {
    const { warned, failed, store } = await recover([])
    expect([...warned, ...failed, ...store.batches]).toEqual([])
  })

  it('runs once at a time, and again later', async () => {
    const { store, recovery } = await recover([journalOf(started, trying)])
    let adopted = 0
    const adopt = store.adopt.bind(store)
    store.adopt = () => {
      adopted += 1
      return adopt()
    }
    recovery.run()
    recovery.run()
    await settle()
    expect(adopted).toBe(1)
    store.left.push({ call_sid: 'c9', account_sid: 'a1', events: journalOf({ ...started, call_sid: 'c9' }) })
    recovery.run()
    await settle()
    expect(store.records.map(({ call_sid }) => call_sid)).toEqual(['c1', 'c9'])
  })

  it('that fails is logged, and may be tried again', async () => {
    const { store, recovery, failed } = await recover([])
    const error = new Error('the database is away')
    const adopt = store.adopt.bind(store)
    store.adopt = () => Promise.reject(error)
    recovery.run()
    await settle()
    expect(failed).toEqual([[{ err: error }, 'calls of a dead node could not be ended']])
    store.adopt = adopt
    store.left.push({ call_sid: 'c1', account_sid: 'a1', events: journalOf(started) })
    recovery.run()
    await settle()
    expect(store.records).toHaveLength(1)
  })

  it('hangs up the far ends once the database has the ends of their calls, also if it was away at first', async () => {
    const { store, recovery, hungUp, failed } = await recover([])
    const flush = store.flush.bind(store)
    store.flush = () => Promise.reject(new Error('the database is away'))
    store.left.push({ call_sid: 'c1', account_sid: 'a1', events: journalOf(started, trying), dialog: '{}' })
    recovery.run()
    await settle()
    expect([failed.length, hungUp]).toEqual([1, []])
    store.flush = flush
    recovery.run()
    await settle()
    expect(hungUp).toHaveLength(1)
    expect(store.records.map(({ call_sid }) => call_sid)).toEqual(['c1'])
    recovery.run()
    await settle()
    expect(hungUp).toHaveLength(1)
  })

  it('that is stopped finishes what it has begun, and begins nothing more', async () => {
    const { store, recovery } = await recover([])
    const flushed = Promise.withResolvers<void>()
    store.flush = () => flushed.promise
    store.left.push({ call_sid: 'c1', account_sid: 'a1', events: journalOf(started) })
    recovery.run()
    await settle()
    let isStopped = false
    const stopping = recovery.stop().then(() => (isStopped = true))
    await settle()
    expect(isStopped).toBe(false)
    store.left.push({ call_sid: 'c2', account_sid: 'a1', events: journalOf(started) })
    flushed.resolve()
    await stopping
    recovery.run()
    await settle()
    expect(store.records).toHaveLength(1)
    expect(store.left).toHaveLength(1)
  })
})
