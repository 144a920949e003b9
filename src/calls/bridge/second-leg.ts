// A leg that a call dials: it counts on its own, reports where its call reports, and the journal of the call tells of it.
import type { CallContext } from '../call-context.ts'
import type { Leg } from '../leg/leg.ts'
import { calledPartyOf } from '../outbound/call-order.ts'
import type { CallOrder } from '../outbound/call-order.ts'
import { OutgoingLeg } from '../outbound/outgoing-leg.ts'
import { followDialled } from './leg-story.ts'

export interface SecondLeg {
  readonly leg: Leg
  /** Afterwards the leg is answered or has ended. Never rejects. */
  readonly dial: () => Promise<void>
  /** From now on the journal of the call says no more of it. */
  readonly unfollow: () => void
}

export function openSecondLeg(order: CallOrder, context: CallContext, parent: Leg): SecondLeg {
  const outgoing = new OutgoingLeg(order, context, parent)
  const { leg } = outgoing
  leg.status.followParent()
  const unfollow = followDialled(leg, parent, calledPartyOf(order.to))
  const refused = context.admission.refusal()
  void leg.closed.finally(context.admission.enter())
  if (refused !== undefined) leg.refuse(refused)
  const dial = (): Promise<void> =>
    outgoing.dial(() => undefined).catch((error: unknown) => leg.refuse(error))
  return { leg, dial, unfollow }
}
