// Ends a leg for a failure of the catalogue, and reports it in the journal, the status hook, the record and the log.
import type { AppError } from '../../lib/errors.ts'
import type { JournalWriter } from '../journal/journal-writer.ts'
import type { HangUpOptions } from './leg-options.ts'
import { failureHeaders, toRefusal } from '../journal/refusals.ts'

/** The part of a leg that is needed to end it. */
export interface EndingLeg {
  readonly hasEnded: boolean
  readonly journal: JournalWriter
  hangUp(options: HangUpOptions): Promise<void>
}

type Words = Pick<HangUpOptions, 'reason' | 'recorded' | 'because'>

/** Hangs up for an error. Unlike `refuse`, keeps the status and words of a hang-up. `reason`: else the sentence. */
export async function hangUpFor(
  leg: EndingLeg,
  error: AppError,
  { reason = error.message, ...words }: Words = {},
): Promise<void> {
  if (leg.hasEnded) return
  const { fact } = toRefusal(error)
  leg.journal.add(fact)
  await leg.hangUp({ headers: failureHeaders(fact), reason, ...words })
}
