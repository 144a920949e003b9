// A call that the platform makes, from the order to the end of its script. Status and record report every end.
import { actingFor } from '../../lib/acting-for.ts'
import type { AppError } from '../../lib/errors.ts'
import { RoutedApplication } from '../application/routed-application.ts'
import { runScript } from '../script/run-script.ts'
import { noVerbLeft } from '../script/verb-loop.ts'
import { toCallHookPayload } from '../journal/hook-payloads.ts'
import type { ScriptedOrder } from '../outbound/call-order.ts'
import { OutgoingLeg } from '../outbound/outgoing-leg.ts'
import type { ArrivalNeeds } from './needs.ts'

export interface PlacedCall {
  /** Resolves when the first INVITE was sent, or the leg has ended without one. */
  readonly sent: Promise<void>
  /** Resolves when the call is over. Never rejects. */
  readonly done: Promise<void>
}

/** Places a call. `refused` is the reason if no call may begin now. */
export function placeCall(
  order: ScriptedOrder,
  needs: ArrivalNeeds,
  refused: AppError | undefined,
): PlacedCall {
  const outgoing = new OutgoingLeg(order, needs)
  const { leg } = outgoing
  // Made before the first status change, so that changes wait for the WebSocket of an application that has one.
  const application = new RoutedApplication({ leg, script: order.script, needs })
  leg.status.follow(order.script.call_status_hook)
  const { settings } = leg.session
  const { referHook, requestHook } = order
  if (referHook !== undefined) settings.change({ kind: 'refer-hook', hook: referHook })
  if (requestHook !== undefined) settings.change({ kind: 'request-hook', hook: requestHook })
  if (refused !== undefined) leg.refuse(refused)
  const { promise: sent, resolve: onSent } = Promise.withResolvers<void>()
  const { account_sid } = order.account
  const done = actingFor(account_sid, () => serve(order, { outgoing, application, onSent }, needs))
    .catch((error: unknown) => leg.refuse(error))
    .finally(onSent)
  return { sent, done }
}

interface Serving {
  readonly outgoing: OutgoingLeg
  readonly application: RoutedApplication
  readonly onSent: () => void
}

async function serve(
  { script, machineDetection }: ScriptedOrder,
  { outgoing, application, onSent }: Serving,
  needs: ArrivalNeeds,
): Promise<void> {
  const { leg } = outgoing
  await outgoing.dial(onSent)
  if (!leg.isAnswered) return
  const node = needs.node()
  const question = (): object => toCallHookPayload({ facts: leg.journal.facts, script, node })
  const detects = machineDetection && { machineDetection }
  await runScript({ leg, script, application, question, ...detects }, needs)
  await leg.hangUp({ ...leg.lastOther.words, because: noVerbLeft })
}
