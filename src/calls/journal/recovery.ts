// Recovery of the calls that a dead node left behind. Each gets its end in the journal, and its one record.
import type { Logger } from '../../lib/log.ts'
import { AppError } from '../../lib/errors.ts'
import { reasonPhraseOf } from '../../sip/message/reason-phrases.ts'
import type { HeaderField } from '../../sip/message/message.ts'
import type { LeftDialog } from '../../sip/sip.ts'
import { failureHeaders, reasonHeader, toRefusal } from './refusals.ts'
import type { CallBatch, CallStore, JournalEvent, JournalFact, StatusFact } from './journal.ts'
import { toDecision } from './decision.ts'
import type { UnqueuedFact } from './queue-facts.ts'
import type { RoomFact } from './room-facts.ts'
import { toQueueNotification } from './queue-events.ts'
import type { Directory } from '../ports.ts'
import { failureOf, reduce, replay, toRecentCall, type CallFacts } from './projection.ts'
import { toChangePayload, toCommonPayload, toNodePayload, type NodeFacts } from './hook-payloads.ts'
import type { StoredEvent } from '../../contracts/journal.ts'
import type { Notification, UnfinishedCall } from '../../contracts/call-record.ts'

export const stoppedInMidCall = 'platform stopped in mid-call'

const lost = toRefusal(
  new AppError('call_lost', 'the process that carried the call ended without ending the call'),
)

export interface RecoveryOptions {
  readonly store: CallStore
  readonly directory: Pick<Directory, 'application' | 'queueEventHook'>
  readonly node: () => NodeFacts
  /** Hangs up the far end of a call whose process has ended. */
  readonly hangUp: (dialog: LeftDialog, headers: readonly HeaderField[]) => void
  readonly log: Logger
}

export interface Recovery {
  /** Closes all calls that are left behind. Does nothing while a run is under way. */
  run(): void
  /** Lets no further run begin, and resolves when none is under way. */
  stop(): Promise<void>
}

export function createRecovery(options: RecoveryOptions): Recovery {
  const { store, log } = options
  let running: Promise<void> | undefined
  let isStopped = false
  /** The calls whose ends are written, until the database has them and their far ends are hung up. */
  let closed: readonly UnfinishedCall[] = []

  async function recover(): Promise<void> {
    let ended = 0
    while (!isStopped) {
      if (closed.length === 0) {
        const calls = await store.adopt()
        if (calls.length === 0) break
        for (const call of calls) store.write(await endOf(call, options), 'now')
        closed = calls
      }
      await store.flush()
      // Only once the records are there: another node may have closed the calls meanwhile.
      for (const call of closed) hangUp(call, options)
      ended += closed.length
      closed = []
    }
    if (ended > 0) log.warn({ calls: ended, ...failureOf(lost.fact) }, 'calls of a dead node were ended')
  }

  return {
    run() {
      if (isStopped) return
      running ??= recover()
        .catch((error: unknown) => log.error({ err: error }, 'calls of a dead node could not be ended'))
        .finally(() => {
          running = undefined
        })
    },
    async stop() {
      isStopped = true
      await running
    },
  }
}

/** Sends the far end a BYE: its phone would stay silent until it is put down. */
function hangUp({ dialog, call_sid }: UnfinishedCall, options: RecoveryOptions): void {
  if (dialog === undefined) return
  try {
    const { fact } = lost
    options.hangUp(JSON.parse(dialog) as LeftDialog, [reasonHeader(fact.sentence), ...failureHeaders(fact)])
  } catch (error) {
    options.log.warn({ err: error, call_sid }, 'the far end of a lost call could not be hung up')
  }
}

async function endOf(call: UnfinishedCall, options: RecoveryOptions): Promise<CallBatch> {
  const { account_sid, call_sid } = call
  const batch = { account_sid, call_sid, events: [], notifications: [] }
  const facts = replay(call.events)
  if (facts === undefined) {
    options.log.error({ call_sid }, 'journal of an unfinished call lacks its beginning: no record')
    return { ...batch, ended: true }
  }
  // Only the closing of the call is missing, or was written before its last events.
  if (facts.termination_reason !== undefined) return { ...batch, ...closing(facts) }
  const events = endingEvents(facts, call)
  const ended = events.reduce(reduce, facts)
  return {
    ...batch,
    events,
    notifications: [
      ...(await notificationsOf(ended, call.events, options)),
      ...(await queueNotificationsOf(facts, events, options)),
    ],
    ...closing(ended),
  }
}

function closing(facts: CallFacts): Pick<CallBatch, 'record' | 'ended'> {
  return facts.started.is_record_disabled ? { ended: true } : { record: toRecentCall(facts) }
}

/** Returns the final events. Their time is the last sign of life of the process, since its time of death is unknown. */
function endingEvents(facts: CallFacts, { events: before, alive_at }: UnfinishedCall): JournalEvent[] {
  const last = before.at(-1)
  const at = Math.max(last?.at ?? facts.started.attempted_at, alive_at ?? 0)
  const status: StatusFact =
    facts.answered_at === undefined
      ? { type: 'status', call_status: 'failed', sip_status: 503, sip_reason: reasonPhraseOf(503) }
      : {
          type: 'status',
          call_status: 'completed',
          sip_status: 200,
          sip_reason: reasonPhraseOf(200),
          duration: Math.max(0, Math.floor((at - facts.answered_at) / 1000)),
        }
  const added: JournalFact[] = [
    toDecision({ rule: 'recovery', outcome: stoppedInMidCall }),
    lost.fact,
    { ...status, call_termination_by: 'jambonz' },
    { type: 'ended', termination_reason: stoppedInMidCall },
    ...unqueuedIn(facts, at),
    ...leftRoomIn(before),
  ]
  return added.map((fact, index) => ({ seq: (last?.seq ?? 0) + 1 + index, at, ...fact }))
}

/** Returns the fact that the call left its queue, which has ended with its process. */
function unqueuedIn({ queue }: CallFacts, at: number): UnqueuedFact[] {
  if (queue === undefined) return []
  const { name, since } = queue
  const gone = { leave_reason: 'abandoned', length: 0, because: stoppedInMidCall } as const
  return [{ type: 'unqueued', queue: name, waited_ms: at - since, ...gone }]
}

/** Returns the fact that the call left its conference, which has ended with its process. */
function leftRoomIn(events: UnfinishedCall['events']): RoomFact[] {
  const last = events.findLast(({ type }) => /^room-(waiting|joined|left)$/.test(type))
  if (last === undefined || last.type === 'room-left') return []
  return [{ type: 'room-left', room: String(last['room']), because: stoppedInMidCall }]
}

/** Returns the notification that the call has left its queue, since its joining was notified. */
async function queueNotificationsOf(
  before: CallFacts,
  events: readonly JournalEvent[],
  { directory, node, log }: RecoveryOptions,
): Promise<readonly Notification[]> {
  const { started, queue } = before
  if (queue === undefined) return []
  try {
    const hook = await directory.queueEventHook(started.account_sid)
    if (hook === null) return []
    const leave_time = events.at(-1)?.at ?? queue.since
    const change = { event: 'leave', leave_time, leave_reason: 'abandoned' } as const
    const facts = events.reduce(reduce, before)
    return [toQueueNotification({ queue: queue.name, length: 0, change }, { facts, node: node(), hook })]
  } catch (error) {
    log.warn({ err: error, call_sid: started.call_sid }, 'queue event hook could not be found')
    return []
  }
}

/** Returns the notification of the end of the call, if its status hook was notified of its beginning. */
async function notificationsOf(
  ended: CallFacts,
  before: readonly StoredEvent[],
  { directory, node, log }: RecoveryOptions,
): Promise<readonly Notification[]> {
  const { application_sid } = ended
  if (application_sid === undefined || !before.some(isAnnouncement)) return []
  const { account_sid, call_sid } = ended.started
  try {
    const application = await directory.application(account_sid, application_sid)
    const hook = application?.call_status_hook
    if (hook === undefined || hook === null) return []
    const payload = { ...toCommonPayload(ended), ...toNodePayload(ended, node()), ...toChangePayload(ended) }
    return [{ account_sid, call_sid, hook, payload }]
  } catch (error) {
    log.warn({ err: error, call_sid }, 'status hook of an unfinished call could not be found')
    return []
  }
}

/** Returns whether the event is the first one that is reported to a status hook. */
function isAnnouncement(event: StoredEvent): boolean {
  return event.type === 'status' && event['call_status'] === 'trying'
}
