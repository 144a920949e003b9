// A dialled leg. It counts as a call of its own, reports to the hook of its call, and is in that call's journal.
import type { Leg } from '../leg/leg.ts'
import { calledPartyOf, type CallOrder } from '../outbound/call-order.ts'
import { OutgoingLeg } from '../outbound/outgoing-leg.ts'
import { followDialled } from '../leg/leg-story.ts'
import type { BridgeNeeds } from './needs.ts'

export interface SecondLeg {
  readonly leg: Leg
  /** Dials. Resolves when the leg is answered or has ended. Never rejects. */
  readonly dial: () => Promise<void>
  /** Stops journalling the leg in the journal of the call. */
  readonly unfollow: () => void
}

export function openSecondLeg(order: CallOrder, needs: BridgeNeeds, parent: Leg): SecondLeg {
  const outgoing = new OutgoingLeg(order, needs, parent)
  const { leg } = outgoing
  leg.status.followParent()
  const unfollow = followDialled(leg, parent, calledPartyOf(order.to))
  const refused = needs.admission.refusal()
  void leg.closed.finally(needs.admission.enter())
  if (refused !== undefined) leg.refuse(refused)
  const dial = (): Promise<void> =>
    outgoing.dial(() => undefined).catch((error: unknown) => leg.refuse(error))
  return { leg, dial, unfollow }
}
