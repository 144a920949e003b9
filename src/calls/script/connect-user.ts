// A call from one user to another of its realm, without an application.
import type { Leg } from '../leg/leg.ts'
import { noScript } from '../application/no-script.ts'
import { RoutedApplication } from '../application/routed-application.ts'
import { abilitiesOf } from './run-script.ts'
import { refuseCaller } from '../bridge/caller-refusal.ts'
import type { RunnableVerb } from '../verb/verb.ts'
import { noVerbLeft, VerbLoop } from './verb-loop.ts'
import type { UserCall } from '../inbound/route-call.ts'
import type { ScriptNeeds } from './needs.ts'

const ringMs = 60_000

/** Resolves when the call is over. Throws AppError if the call cannot be made. */
export async function connectUser(
  leg: Leg,
  { name, realm, caller }: UserCall,
  needs: ScriptNeeds,
): Promise<void> {
  const script = noScript(leg.journal.facts.started.account_sid)
  const application = new RoutedApplication({ leg, script, needs })
  const queue = new VerbLoop({ journal: leg.journal, clock: needs.clock, signal: leg.signal })
  const abilities = abilitiesOf({ leg, application, queue }, needs)
  const dial: RunnableVerb = {
    name: 'dial',
    needs: 'nothing',
    isEarlyMedia: false,
    ignored: [],
    async run({ legs }, { signal }) {
      const outcome = await legs.dial({
        targets: [{ to: { type: 'user', name, realm }, headers: {} }],
        // There is no application to check who calls: From is what the phone wrote, the name is the authenticated one.
        callerId: caller,
        answersOnBridge: true,
        headers: {},
        ringMs,
        capture: { parent: [], child: [] },
        forwardsIdentity: true,
        // No application asks for a direct media path, so neither side gets the address of the other.
        mediaPath: { isAnchored: true, exits: false },
        dubs: [],
        signal,
      })
      return outcome?.call_status === 'completed' ? undefined : 'failed'
    },
  }
  leg.session.run(leg, abilities.running)
  await queue.run([dial], abilities)
  if (leg.isAnswered) return leg.hangUp({ ...leg.lastOther.words, because: noVerbLeft })
  const nothingCalled = { status: 480, reasons: [] }
  refuseCaller(leg, leg.lastOther.failure ?? nothingCalled, `${name} did not take the call`)
}
