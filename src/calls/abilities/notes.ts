// The ability to write to the journal of a call: notes, problems, and missing parts without which the call continues.
import type { AppError, ErrorCode } from '../../lib/errors.ts'
import type { JournalWriter } from '../journal/journal-writer.ts'
import type { Notes } from '../verb/abilities.ts'
import { toProblem } from '../journal/refusals.ts'

export class CallNotes implements Notes {
  readonly #journal: JournalWriter
  readonly #goesWithout = new Set<ErrorCode>()

  constructor(journal: JournalWriter) {
    this.#journal = journal
  }

  note(sentence: string): void {
    this.#journal.note({ type: 'note', sentence })
  }

  problem(error: AppError): void {
    this.#journal.note(toProblem(error))
  }

  goWithout(error: AppError): void {
    if (this.#goesWithout.has(error.code)) return this.note(error.message)
    this.#goesWithout.add(error.code)
    this.problem(error)
  }
}
