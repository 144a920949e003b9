// The leg for which an INVITE of the platform was sent.
import type { OutgoingInvite } from '../../sip/sip.ts'
import type { Leg } from '../leg/leg.ts'

const legs = new WeakMap<OutgoingInvite, Leg>()

export function noteRinging(invite: OutgoingInvite, leg: Leg): void {
  legs.set(invite, leg)
}

export function ringingLeg(invite: OutgoingInvite): Leg | undefined {
  return legs.get(invite)
}
