// A failure that a leg survives: it stands in the journal.
import type { Leg } from './leg.ts'
import { toAppError, toProblem } from './refusals.ts'

/** Once the leg has ended, nothing is wrong with what it cannot do any more. */
export function noteProblem(leg: Pick<Leg, 'hasEnded' | 'journal' | 'log'>, error: unknown): void {
  if (!leg.hasEnded) leg.journal.note(toProblem(toAppError(error, leg.log)))
}
