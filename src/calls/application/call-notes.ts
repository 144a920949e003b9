// What a running verb writes into the journal of its call: notes, problems, and what the call goes on without.
import type { AppError, ErrorCode } from '../../lib/errors.ts'
import type { JournalWriter } from '../journal/journal-writer.ts'
import { toProblem } from '../leg/refusals.ts'

export class CallNotes {
  readonly #journal: JournalWriter
  readonly #goesWithout = new Set<ErrorCode>()

  constructor(journal: JournalWriter) {
    this.#journal = journal
  }

  note(sentence: string): void {
    this.#journal.note({ type: 'note', sentence })
  }

  /** A failure that the call survives. It raises an alert where its code has one. */
  problem(error: AppError): void {
    this.#journal.note(toProblem(error))
  }

  /** A problem the first time, and a note from then on: one alert a call is enough. */
  goWithout(error: AppError): void {
    if (this.#goesWithout.has(error.code)) return this.note(error.message)
    this.#goesWithout.add(error.code)
    this.problem(error)
  }
}
