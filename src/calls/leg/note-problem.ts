// The journal entry of a failure that a leg survives.
import type { Leg } from './leg.ts'
import { toAppError, toProblem } from '../journal/refusals.ts'

/** Journals a failure, unless the leg has ended: then it is expected that nothing works any more. */
export function noteProblem(leg: Pick<Leg, 'hasEnded' | 'journal' | 'log'>, error: unknown): void {
  if (!leg.hasEnded) leg.journal.note(toProblem(toAppError(error, leg.log)))
}
