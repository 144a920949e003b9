// A call whose application dials, with all its surroundings scripted.
import type { ParseVerbs } from '../../../src/calls/verb/verb.ts'
import { createScriptedEngine, type ScriptedEngine } from './scripted-engine.ts'
import { phone } from './scripted-facts.ts'
import { settle } from './turns.ts'
import { sipRequest } from './scripted-messages.ts'
import type { ScriptedInvite, ScriptedInviteOptions, ScriptedOutgoing } from './scripted-sip.ts'

export interface Dialled {
  readonly engine: ScriptedEngine
  readonly caller: ScriptedInvite
  /** Returns the INVITE to the nth target. */
  readonly called: (n?: number) => ScriptedOutgoing
  /** Returns the payloads of the action hook. */
  readonly results: () => Record<string, unknown>[]
  readonly types: (call_sid: string) => string[]
  readonly sidOf: (direction: 'inbound' | 'outbound') => string
}

/** Starts a call whose application dials, and plays a file of 1 s afterwards. */
export async function dialled(
  parseVerbs: ParseVerbs,
  options: object,
  prepare?: (engine: ScriptedEngine) => void,
  invite: Partial<ScriptedInviteOptions> = {},
): Promise<Dialled> {
  const engine = createScriptedEngine(parseVerbs)
  engine.phones.set('alice@example.com', [phone])
  const verb = { verb: 'dial', target: [{ type: 'user', name: 'alice' }], actionHook: '/dialled', ...options }
  engine.hooks.on('/call', [verb, { verb: 'play', url: 'http://app.test/after.wav' }])
  prepare?.(engine)
  const caller = engine.ring(invite)
  await settle()
  await settle()
  return {
    engine,
    caller,
    called(n = 0) {
      const invite = engine.sent[n]
      if (invite === undefined) throw new Error(`there is no INVITE number ${n}`)
      return invite
    },
    results: () => engine.hooks.payloadsOf('/dialled'),
    types: (call_sid) => engine.store.journalOf(call_sid).map(({ type }) => type),
    sidOf: (direction) =>
      engine.store.batches.flatMap(({ events }) =>
        events.flatMap((event) => (event.type === 'started' && event.direction === direction ? [event] : [])),
      )[0]?.call_sid ?? '',
  }
}

export async function answered(invite: ScriptedOutgoing): Promise<void> {
  invite.answer()
  await settle()
  await settle()
}

/** Has the far end of a dialog hang up. */
export async function bye(
  dialog: { listener: { ended(bye: ReturnType<typeof sipRequest>): void } } | undefined,
): Promise<void> {
  dialog?.listener.ended(sipRequest('BYE'))
  await settle()
  await settle()
}

/** Starts a call that talks with the party that it dialled. */
export async function talking(
  parseVerbs: ParseVerbs,
  options: object = {},
  prepare?: (engine: ScriptedEngine) => void,
): Promise<Dialled> {
  const one = await dialled(parseVerbs, options, prepare)
  await answered(one.called())
  return one
}

/** Returns the leg that each leg hears, as indices in the order of their sessions. */
export function hearings({ engine }: Pick<Dialled, 'engine'>): (number | undefined)[] {
  const { sessions } = engine.media
  return sessions.map(({ hears, isClosed }) => {
    const heard = sessions.findIndex(({ id }) => id === hears)
    return isClosed || heard === -1 ? undefined : heard
  })
}

/** Returns the remains of legs that have ended: one record each, and nothing else. */
export function leftOf({ engine }: Pick<Dialled, 'engine'>): object {
  const sids = engine.store.records.map(({ call_sid }) => call_sid)
  return {
    records: sids.length,
    legs: new Set(engine.store.batches.map(({ call_sid }) => call_sid)).size,
    live: engine.calls.liveCount,
    media: engine.media.openSessions,
    clips: engine.lent.size,
    timers: engine.clock.pending,
  }
}

export const nothing = (legs: number): object => ({
  records: legs,
  legs,
  live: 0,
  media: 0,
  clips: 0,
  timers: 0,
})

/** Lets this many promises settle, one after the other: less than a turn. */
export async function steps(count: number): Promise<void> {
  for (let step = 0; step < count; step += 1) await Promise.resolve()
}
