// Calls whose application puts them into a conference, with all their surroundings scripted.
import type { JournalEvent } from '../../../src/calls/journal/journal.ts'
import type { ParseVerbs } from '../../../src/calls/verb/verb.ts'
import { account, application } from './scripted-facts.ts'
import { calm } from './turns.ts'
import { createScriptedEngine, type ScriptedEngine } from './scripted-engine.ts'
import { scriptedRecorder, type ScriptedRecorder } from './scripted-recorder.ts'
import type { ScriptedSession } from './scripted-media.ts'
import { sipRequest } from './scripted-messages.ts'
import type { ScriptedInvite, ScriptedInviteOptions } from './scripted-sip.ts'

export class Attendee {
  readonly engine: ScriptedEngine
  readonly invite: ScriptedInvite
  readonly session: ScriptedSession
  readonly call_sid: string

  constructor(engine: ScriptedEngine, invite: ScriptedInvite, session: ScriptedSession, call_sid: string) {
    this.engine = engine
    this.invite = invite
    this.session = session
    this.call_sid = call_sid
  }

  get isInRoom(): boolean {
    return this.session.wiring.speaksIn !== undefined
  }

  /** Whether the call hears the others and is heard, and the only ones that hear it, by their media. */
  get place(): { readonly hears: boolean; readonly isHeard: boolean; readonly onlyTo?: readonly string[] } {
    const { hears, speaksIn, isMuted = false } = this.session.wiring
    return {
      hears: hears.some(({ from }) => from.kind === 'room' && from.id === speaksIn?.room),
      isHeard: speaksIn !== undefined && !isMuted,
      ...(speaksIn?.onlyTo === undefined ? {} : { onlyTo: speaksIn.onlyTo }),
    }
  }

  get journal(): readonly JournalEvent[] {
    return this.engine.store.journalOf(this.call_sid)
  }

  /** The room events of the journal: `room-joined 2`, `room-left: ...`. */
  get story(): readonly string[] {
    return this.journal.flatMap((event) => {
      if (!event.type.startsWith('room-')) return []
      if (event.type === 'room-joined') return [`${event.type} ${event.members}`]
      return [event.type === 'room-left' ? `${event.type}: ${event.because}` : event.type]
    })
  }

  async hangUp(): Promise<void> {
    this.invite.dialog?.listener.ended(sipRequest('BYE'))
    await calm()
  }

  async command(asked: object, account_sid = account.account_sid): Promise<void> {
    await this.engine.calls.command(account_sid, this.call_sid, { ...asked })
    await calm()
  }
}

export interface Meeting {
  readonly engine: ScriptedEngine
  readonly recorder: ScriptedRecorder
  /** Starts a call that its application puts into the room "team", unless the options name another. */
  readonly enter: (options?: object, invite?: Partial<ScriptedInviteOptions>) => Promise<Attendee>
  /** Returns the status events that the hook received: `join 2`. */
  readonly events: () => readonly string[]
  /** Moves the clock and lets the consequences settle. */
  readonly pass: (ms: number) => Promise<void>
}

export const statusOf = {
  statusHook: '/events',
  statusEvents: ['start', 'end', 'join', 'leave', 'start-talking', 'stop-talking'],
}

export function createMeeting(parseVerbs: ParseVerbs, after: readonly object[] = []): Meeting {
  const recorder = scriptedRecorder()
  const engine = createScriptedEngine(parseVerbs, { recorder })
  return {
    engine,
    recorder,
    async enter(options = {}, invite = {}) {
      const verbs = [{ verb: 'conference', name: 'team', ...options }, ...after]
      engine.hooks.answers.set('/call', async () => verbs)
      const known = new Set(engine.store.batches.map(({ call_sid }) => call_sid))
      const { sessions } = engine.media
      const before = sessions.length
      const ringing = engine.ring({ to: `app-${application.application_sid}@example.com`, ...invite })
      await calm()
      const call_sid = engine.store.batches.find((batch) => !known.has(batch.call_sid))?.call_sid
      const session = sessions[before]
      if (call_sid === undefined || session === undefined) throw new Error('the call has not come in')
      return new Attendee(engine, ringing, session, call_sid)
    },
    events: () =>
      engine.hooks.payloadsOf('/events').map(({ event, members }) => `${String(event)} ${String(members)}`),
    async pass(ms) {
      engine.clock.advance(ms)
      await calm()
    },
  }
}
