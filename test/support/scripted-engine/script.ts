// Verbs that are functions of a test: they use a call's abilities without a verb of the product.
import type { Abilities } from '../../../src/calls/verb/abilities.ts'
import type { CallsOptions } from '../../../src/calls/calls.ts'
import type { JournalEvent } from '../../../src/calls/journal/journal.ts'
import type { ParseVerbs, RunnableVerb, VerbContext } from '../../../src/calls/verb/verb.ts'
import { AppError } from '../../../src/lib/errors.ts'
import type { HeaderField } from '../../../src/sip/message/message.ts'
import { createScriptedEngine, type ScriptedEngine } from './scripted-engine.ts'
import { settle } from './turns.ts'
import type { ScriptedDialog } from './scripted-dialog.ts'
import type { ScriptedInvite } from './scripted-sip.ts'

type Run = (can: Abilities, context: VerbContext) => unknown

/** Returns a verb that runs in any state of the call, unless `facts` differ. */
export function verb(name: string, run: Run, facts: Partial<RunnableVerb> = {}): RunnableVerb {
  return {
    name,
    needs: 'nothing',
    isEarlyMedia: false,
    ignored: [],
    run: async (can, context) => void (await run(can, context)),
    ...facts,
  }
}

export const answer: RunnableVerb = verb('answer', (can) => can.signalling.answer())

/** A verb that runs until it is stopped. */
export const rest: RunnableVerb = verb('rest', (can, { signal }) => can.time.wait(9_000_000, signal))

/** Returns the list itself: hooks answer with runnable verbs. */
const parseVerbs: ParseVerbs = (list) => {
  if (!Array.isArray(list)) throw new AppError('hook_invalid_payload', 'the answer must be an array of verbs')
  return list as RunnableVerb[]
}

export interface RunningCall {
  readonly engine: ScriptedEngine
  readonly invite: ScriptedInvite
  readonly call_sid: string
  /** Returns the journal's events of one type. */
  readonly journalled: <T extends JournalEvent['type']>(type: T) => Extract<JournalEvent, { type: T }>[]
  /** Returns each verb that has ended, with its outcome. */
  readonly outcomes: () => string[]
  /** Returns the dialog of the call, which must have been answered. */
  readonly dialog: () => ScriptedDialog
}

export interface RunOptions {
  /** Called before the call comes in. */
  readonly before?: (engine: ScriptedEngine) => void
  readonly options?: Partial<CallsOptions>
  /** False for an INVITE without SDP. */
  readonly hasOffer?: boolean
  /** The headers of the INVITE. */
  readonly headers?: readonly HeaderField[]
}

/** Starts a call with these verbs, and lets everything run that waits only for its turn. */
export async function runVerbs(verbs: readonly RunnableVerb[], given: RunOptions = {}): Promise<RunningCall> {
  const engine = createScriptedEngine(parseVerbs, given.options)
  engine.hooks.on('/call', verbs)
  given.before?.(engine)
  const { headers = [] } = given
  const invite = engine.ring({ headers, ...(given.hasOffer === false ? { body: '' } : {}) })
  await settle()
  const call_sid = engine.store.batches[0]?.call_sid ?? ''
  const journalled: RunningCall['journalled'] = (type) =>
    engine.store
      .journalOf(call_sid)
      .filter((event): event is Extract<JournalEvent, { type: typeof type }> => event.type === type)
  return {
    engine,
    invite,
    call_sid,
    journalled,
    outcomes: () => journalled('verb-ended').map(({ verb: name, outcome }) => `${name} ${outcome}`),
    dialog() {
      if (invite.dialog === undefined) throw new Error('the call was not answered')
      return invite.dialog
    },
  }
}
