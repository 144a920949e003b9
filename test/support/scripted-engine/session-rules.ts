// The rules that hold for every history of a session with several legs, whatever the order of events.
import { isFinal, type CallStatus } from '../../../src/calls/journal/call-status.ts'
import type { JournalEvent } from '../../../src/calls/journal/journal.ts'
import type { History } from './random-session.ts'

/** The facts that may be written about a leg after its end: they were under way at that moment. */
const lateFacts: ReadonlySet<JournalEvent['type']> = new Set<JournalEvent['type']>([
  'ended',
  'media-closed',
  'unbridged',
  'room-left',
  'dial-ended',
  'verb-ended',
  'unqueued',
  'hook-answered',
  'hook-failed',
  'decision',
  'note',
  'problem',
])

const ranks: Readonly<Partial<Record<CallStatus, number>>> = {
  trying: 0,
  ringing: 1,
  'early-media': 1,
  'in-progress': 2,
}
const rankOf = (status: CallStatus): number => ranks[status] ?? 3

/** Returns sentences with the faults of one leg. */
function wrongsOfLeg({ engine }: History, sid: string, events: readonly JournalEvent[]): string[] {
  const wrongs: string[] = []
  const demand = (holds: boolean, sentence: string): void => {
    if (!holds) wrongs.push(`${sid}: ${sentence}`)
  }
  const batches = engine.store.batches.filter(({ call_sid }) => call_sid === sid)
  const closings = batches.filter(({ record, ended }) => record !== undefined || ended === true)
  demand(closings.length === 1, `${closings.length} records`)
  demand(
    events.every(({ seq }, index) => seq === index + 1),
    'events out of order',
  )
  const types = events.map(({ type }) => type)
  const count = (wanted: JournalEvent['type']): number => types.filter((type) => type === wanted).length
  demand(count('ended') === 1, `ended ${count('ended')} times`)
  demand(count('bridged') === count('unbridged'), 'a bridge without an end')
  const late = types.slice(types.indexOf('ended')).filter((type) => !lateFacts.has(type))
  demand(late.length === 0, `after the end: ${late.join(', ')}`)

  const told = batches.flatMap(({ notifications }) =>
    notifications.map(
      ({ payload }) => payload as { call_status: CallStatus; error?: string; event?: string },
    ),
  )
  const statuses = told
    .filter(({ error, event }) => error === undefined && event === undefined)
    .map(({ call_status }) => call_status)
  demand(
    statuses.every(
      (status, index) => index === 0 || rankOf(statuses[index - 1] ?? 'trying') <= rankOf(status),
    ),
    `statuses ${statuses.join(', ')}`,
  )
  demand(statuses.filter(isFinal).length === Math.min(1, statuses.length), `finals of ${statuses.join(', ')}`)
  const record = closings[0]?.record
  const wasAnswered = events.some((event) => event.type === 'status' && event.call_status === 'in-progress')
  demand(record === undefined || record.answered === wasAnswered, 'the record is wrong about the answer')
  return wrongs
}

/** Returns sentences with the faults of a history, or none. */
export function wrongsOf(history: History): string[] {
  const { engine, invite, others, finals, wrongs: found } = history
  const wrongs = [...found]
  const demand = (holds: boolean, sentence: string): void => {
    if (!holds) wrongs.push(sentence)
  }
  const sids = [...new Set(engine.store.batches.map(({ call_sid }) => call_sid))]
  for (const sid of sids) wrongs.push(...wrongsOfLeg(history, sid, engine.store.journalOf(sid)))
  const came = [invite, ...others]
  const callIds = new Set([...came, ...engine.sent].map(({ callId }) => callId))
  for (const sid of sids) {
    const [started] = engine.store.journalOf(sid)
    if (started?.type !== 'started' || started.direction === 'inbound') continue
    const parent = started.parent_sip_call_id
    demand(parent !== undefined && callIds.has(parent), `${sid} has no parent`)
  }
  demand(engine.calls.liveCount === 0, `${engine.calls.liveCount} live calls`)
  demand(!came.some(({ isOpen }) => isOpen), 'an INVITE that came is open')
  demand(finals() <= 1, `${finals()} final responses`)
  demand(engine.media.openSessions === 0, `${engine.media.openSessions} media sessions`)
  demand(engine.lent.size === 0, `${engine.lent.size} lent clips`)
  demand(engine.clock.pending === 0, `${engine.clock.pending} timers`)
  const dialogs = [
    ...came.map(({ dialog }) => dialog),
    ...engine.sent.map(({ result, dialog }) => (result === 'answered' ? dialog : undefined)),
  ]
  demand(!dialogs.some((dialog) => dialog?.isOver === false), 'a dialog is up')
  demand(
    engine.sent.every(({ result }) => result !== undefined),
    'an INVITE that was sent is open',
  )
  return wrongs
}
