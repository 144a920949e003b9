// The one thing that a leg does with others at a time, beside its verbs: it rings for a call that dials, talks, is in a
// conference, or waits in a queue.
import type { LegBridge, LegMember } from './leg-options.ts'

interface Ending {
  /**
   * Ends it because the leg does something else with others now. Ends neither the leg nor the others. Idempotent. `because`
   * is a phrase for journals.
   */
  end(because: string): void
}

/** The talk itself, which both of its legs share. */
export interface SharedTalk {
  /** Resolves when the two have parted, with the reason in words for the journal. */
  readonly over: Promise<string>
}

export type Held = Ending &
  (
    | { readonly kind: 'ringing' }
    | { readonly kind: 'talk'; readonly talk: SharedTalk; readonly bridge: LegBridge }
    | { readonly kind: 'room'; readonly member: LegMember }
    | {
        readonly kind: 'queue'
        /** Lets the caller leave the queue. Returns false if it waits no longer. */
        readonly leave: () => boolean
      }
  )

export type Occupation = { readonly kind: 'none' } | Held
export type OccupationKind = Occupation['kind']

export const nothing: Occupation = { kind: 'none' }

/**
 * Where a leg may go next. A conference, a queue and a dial are verbs, and a verb begins when the one before it is over; a
 * transfer parts two before it joins others. So only a leg that rings goes on at once: when it is answered, it talks.
 */
export const next: Readonly<Record<OccupationKind, readonly OccupationKind[]>> = {
  none: ['ringing', 'talk', 'room', 'queue'],
  ringing: ['none', 'talk'],
  talk: ['none'],
  room: ['none'],
  queue: ['none'],
}
