// A call from a user to a queue, where it takes the next caller, or to a conference, without an application.
import type { Leg } from '../leg/leg.ts'
import type { RunnableVerb } from '../verb/verb.ts'
import { noScript } from '../application/no-script.ts'
import { RoutedApplication } from '../application/routed-application.ts'
import { abilitiesOf } from './run-script.ts'
import { VerbLoop } from './verb-loop.ts'
import type { ScriptNeeds } from './needs.ts'

const maxWaitMs = 5000

/** Resolves when the call is over. */
export async function connectToQueue(leg: Leg, name: string, needs: ScriptNeeds): Promise<void> {
  let because = `no caller was in the queue "${name}"`
  const run: RunnableVerb['run'] = async ({ queues }, { signal }) => {
    const outcome = await queues.dequeue({ name, maxWaitMs, beeps: false, signal })
    if (outcome !== 'timeout') because = 'the two have parted'
  }
  await runAlone(leg, { name: 'dequeue', run }, needs)
  await leg.hangUp({ ...leg.lastOther.words, because })
}

/** Joins the conference, and starts it if it has not begun. Resolves when the call is over. */
export async function connectToConference(leg: Leg, name: string, needs: ScriptNeeds): Promise<void> {
  const run: RunnableVerb['run'] = async ({ rooms }, { signal }) =>
    await rooms.confer({ ...plain, name, signal })
  await runAlone(leg, { name: 'conference', run }, needs)
  await leg.hangUp({ ...leg.lastOther.words, because: `the call has left the conference "${name}"` })
}

const plain = {
  startsIt: true,
  isModerator: false,
  graceMs: 0,
  isMuted: false,
  tag: undefined,
  coaches: undefined,
  maxMembers: undefined,
  beeps: false,
  distributesKeys: false,
  statusEvents: [],
} as const

async function runAlone(
  leg: Leg,
  verb: Pick<RunnableVerb, 'name' | 'run'>,
  needs: ScriptNeeds,
): Promise<void> {
  const script = noScript(leg.journal.facts.started.account_sid)
  const application = new RoutedApplication({ leg, script, needs })
  const { clock } = needs
  const queue = new VerbLoop({ journal: leg.journal, clock, signal: leg.signal })
  const abilities = abilitiesOf({ leg, application, queue }, needs)
  leg.session.run(leg, abilities.running)
  await queue.run([{ ...verb, needs: 'audio', isEarlyMedia: false, ignored: [] }], abilities)
}
