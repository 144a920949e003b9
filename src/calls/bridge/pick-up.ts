// A leg that rings because a call dials it, which another phone may answer in its place.
import type { Leg } from '../leg/leg.ts'

export class PickUp {
  readonly kind = 'ringing'
  /** Answers with the leg `by` in place of the one that rings. Never rejects. */
  readonly answer: (by: Leg) => Promise<void>

  constructor(answer: PickUp['answer']) {
    this.answer = answer
  }

  end(): void {
    // The dial follows its legs by itself.
  }
}

export function pickUpOf({ occupation }: Leg): PickUp | undefined {
  return occupation instanceof PickUp ? occupation : undefined
}
