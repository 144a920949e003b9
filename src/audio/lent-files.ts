// Files that are lent out, to all who want the same content: each is there until its last borrower gives it back.
import type { BorrowedClip } from '../contracts/speech.ts'

interface Lent {
  readonly path: string
  readonly onReturned: () => void
  borrowers: number
}

export class LentFiles {
  /** By content. */
  readonly #lent = new Map<string, Lent>()

  has(name: string): boolean {
    return this.#lent.has(name)
  }

  /** Undefined when no one has it. */
  borrow(name: string): BorrowedClip | undefined {
    const lent = this.#lent.get(name)
    return lent === undefined ? undefined : this.#lend(name, lent)
  }

  add(name: string, path: string, onReturned: () => void): BorrowedClip {
    const lent: Lent = { path, onReturned, borrowers: 0 }
    this.#lent.set(name, lent)
    return this.#lend(name, lent)
  }

  /** Those who have it keep it; it is not lent to others. */
  withdraw(name: string): void {
    this.#lent.delete(name)
  }

  #lend(name: string, lent: Lent): BorrowedClip {
    lent.borrowers += 1
    let isReleased = false
    return {
      path: lent.path,
      release: () => {
        if (isReleased) return
        isReleased = true
        lent.borrowers -= 1
        if (lent.borrowers > 0) return
        if (this.#lent.get(name) === lent) this.#lent.delete(name)
        lent.onReturned()
      },
    }
  }
}
