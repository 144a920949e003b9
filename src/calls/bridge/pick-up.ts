// The registry of functions by which another phone answers a leg that a call is dialling.
import type { Leg } from '../leg/leg.ts'

/** Answers with the leg `by` in place of the one that rings. Never rejects. */
export type PickUp = (by: Leg) => Promise<void>

const pickUps = new WeakMap<Leg, PickUp>()

export function letPickUp(leg: Leg, pickUp: PickUp): void {
  pickUps.set(leg, pickUp)
}

export function pickUpOf(leg: Leg): PickUp | undefined {
  return pickUps.get(leg)
}
