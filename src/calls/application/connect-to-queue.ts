// A call from a user to a queue: it takes the next caller, and no application runs it.
import { reasonLeft } from '../bridge/leg-story.ts'
import type { CallContext } from '../call-context.ts'
import type { Leg } from '../leg/leg.ts'
import type { RunnableVerb } from '../verb.ts'
import { noScript } from './no-script.ts'
import { RoutedApplication } from './routed-application.ts'
import { abilitiesOf } from './run-script.ts'
import { VerbLoop } from './verb-loop.ts'

const maxWaitMs = 5000

/** Resolves when the call is over. */
export async function connectToQueue(leg: Leg, name: string, context: CallContext): Promise<void> {
  const { services } = context
  const script = noScript(leg.journal.facts.started.account_sid)
  const application = new RoutedApplication({ leg, script, context })
  const queue = new VerbLoop({ journal: leg.journal, clock: services.clock, signal: leg.signal })
  const abilities = abilitiesOf({ leg, application, queue }, context)
  let because = `no caller was in the queue "${name}"`
  const dequeue: RunnableVerb = {
    name: 'dequeue',
    needs: 'audio',
    isEarlyMedia: false,
    ignored: [],
    async run({ queues }, { signal }) {
      const outcome = await queues.dequeue({ name, maxWaitMs, beeps: false, signal })
      if (outcome !== 'timeout') because = 'the two have parted'
    },
  }
  leg.session.run(leg, abilities.running)
  await queue.run([dequeue], abilities)
  await leg.hangUp({ headers: reasonLeft(leg), because })
}
