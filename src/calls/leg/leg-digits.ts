// The keys that the far end of a leg presses. Each press counts once, is written to the journal, and reaches listeners.
import type { Clock } from '../../lib/clock.ts'
import { KeyPresses, type KeyPress } from '../digits/key-presses.ts'
import type { JournalWriter } from '../journal/journal-writer.ts'

export class LegDigits {
  readonly #journal: JournalWriter
  readonly #clock: Clock
  readonly #presses = new KeyPresses()
  readonly #listeners = new Set<(digit: string, press: KeyPress) => void>()
  #isClosed = false

  constructor(journal: JournalWriter, clock: Clock) {
    this.#journal = journal
    this.#clock = clock
  }

  /** Returns the function that stops listening. */
  listen(listener: (digit: string, press: KeyPress) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  press({ digit, durationMs, source }: KeyPress): void {
    if (this.#isClosed) return
    const knewBoth = this.#presses.sendsBoth
    if (!this.#presses.isNew({ digit, durationMs, source }, this.#clock.monotonic())) {
      const sentence = 'keys come in two ways at the same time: the first report of each press counts'
      if (!knewBoth) this.#journal.note({ type: 'note', sentence })
      return
    }
    this.#journal.note({ type: 'digit', digit, duration_ms: durationMs, source })
    for (const listener of [...this.#listeners]) listener(digit, { digit, durationMs, source })
  }

  /** Removes all listeners, and ignores the keys that come later: a callee may send them until its INVITE is over. */
  close(): void {
    this.#isClosed = true
    this.#listeners.clear()
  }
}
