// Calls that come in one after the other, each with its own verbs, with all their surroundings scripted.
import type { JournalEvent } from '../../../src/calls/journal/journal.ts'
import type { ParseVerbs } from '../../../src/calls/verb/verb.ts'
import { account } from './scripted-facts.ts'
import { calm } from './turns.ts'
import { createScriptedEngine, type ScriptedEngine } from './scripted-engine.ts'
import type { ScriptedInvite, ScriptedInviteOptions } from './scripted-sip.ts'
import type { ScriptedSession } from './scripted-media.ts'

export interface InCall {
  readonly invite: ScriptedInvite
  readonly call_sid: string
  readonly session: () => ScriptedSession
  readonly facts: <T extends JournalEvent['type']>(type: T) => (JournalEvent & { readonly type: T })[]
  /** Has the far end hang up. */
  readonly bye: () => Promise<void>
  /** Returns each verb that has ended, with its outcome. */
  readonly outcomes: () => string[]
}

export interface Queueing {
  readonly engine: ScriptedEngine
  /** Starts a call that runs these verbs. */
  readonly ring: (verbs: readonly object[], options?: Partial<ScriptedInviteOptions>) => Promise<InCall>
  readonly lengths: () => string[]
  /** Returns the payloads that the account's queue_event_hook received. */
  readonly events: () => Record<string, unknown>[]
  readonly advance: (ms: number) => Promise<void>
}

/** Verbs that put callers into a queue, or take them out of it. */
export const waiting = { verb: 'enqueue', name: 'support', actionHook: '/left' }
export const taking = { verb: 'dequeue', name: 'support', actionHook: '/taken' }
export const stay = { verb: 'pause', length: 1000 }
export const after = { verb: 'play', url: 'http://app.test/after.wav' }

/** Returns whether the two calls hear each other. */
export const talk = (one: InCall, other: InCall): boolean =>
  one.session().hears === other.session().id && other.session().hears === one.session().id

/** Returns the values of one field in the payloads that a queue's hook received. */
export const sentTo = ({ engine }: Queueing, path: string, field: string): unknown[] =>
  engine.hooks.payloadsOf(path).map((payload) => payload[field])

const eventHook = {
  url: 'http://app.test/queue-event',
  method: 'POST',
  username: null,
  password: null,
} as const

export function createQueueing(
  parseVerbs: ParseVerbs,
  options: Parameters<typeof createScriptedEngine>[1] = {},
): Queueing {
  const engine = createScriptedEngine(parseVerbs, options)
  engine.queueEventHook = eventHook
  const sids = (): Set<string> => new Set(engine.store.batches.map(({ call_sid }) => call_sid))
  return {
    engine,
    async ring(verbs, given) {
      engine.hooks.on('/call', verbs)
      const [before, sessions] = [sids(), engine.media.sessions.length]
      const invite = engine.ring(given)
      await calm()
      const call_sid = [...sids()].find((sid) => !before.has(sid)) ?? ''
      const session = engine.media.sessions[sessions]
      const facts: InCall['facts'] = (type) =>
        engine.store
          .journalOf(call_sid)
          .filter((event): event is JournalEvent & { readonly type: typeof type } => event.type === type)
      return {
        invite,
        call_sid,
        session() {
          if (session === undefined) throw new Error('the call has no media')
          return session
        },
        facts,
        async bye() {
          invite.dialog?.hangUp()
          await calm()
        },
        outcomes: () => facts('verb-ended').map(({ verb, outcome }) => `${verb} ${outcome}`),
      }
    },
    lengths: () => engine.calls.queues(account.account_sid).map(({ name, length }) => `${name}: ${length}`),
    events: () =>
      engine.store.batches
        .flatMap(({ notifications }) => notifications)
        .filter(({ hook }) => hook.url === eventHook.url)
        .map(({ payload }) => payload as Record<string, unknown>),
    async advance(ms) {
      engine.clock.advance(ms)
      await calm()
    },
  }
}
