// Ends a leg for a failure of the catalogue, which the journal, the status hook, the record and the log of the call then say.
import type { AppError } from '../../lib/errors.ts'
import type { JournalWriter } from '../journal/journal-writer.ts'
import type { HangUpOptions } from './leg-options.ts'
import { codeHeader, toRefusal } from './refusals.ts'

/** What is needed of a leg to end it so. */
export interface EndingLeg {
  readonly hasEnded: boolean
  readonly journal: JournalWriter
  hangUp(options: HangUpOptions): Promise<void>
}

type Words = Pick<HangUpOptions, 'reason' | 'recorded' | 'because'>

/** Unlike `refuse` it keeps the status and the words with which the platform hangs up. `reason`: the sentence, unless given. */
export async function hangUpFor(
  leg: EndingLeg,
  error: AppError,
  { reason = error.message, ...words }: Words = {},
): Promise<void> {
  if (leg.hasEnded) return
  const { fact } = toRefusal(error)
  leg.journal.add(fact)
  await leg.hangUp({ headers: [codeHeader(error.code)], reason, ...words })
}
