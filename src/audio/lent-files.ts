// Files that are lent to all borrowers of the same content. Each exists until its last borrower gives it back; a short
// one is kept a little longer, since audio that is whispered to one call is soon whispered to the next.
import type { Clock, Timer } from '../lib/clock.ts'
import type { BorrowedClip } from '../contracts/speech.ts'

interface File {
  readonly path: string
  readonly bytes: number
  readonly onReturned: () => void
}

interface Lent extends File {
  borrowers: number
}

export interface KeepingOptions {
  readonly clock: Clock
  /** The time that a file is kept after its last borrower. */
  readonly keptMs: number
  /** The most bytes of one kept file, and of all kept files. */
  readonly maxShortBytes: number
  readonly maxKeptBytes: number
}

export class LentFiles {
  readonly #options: KeepingOptions
  /** The files by content. */
  readonly #lent = new Map<string, Lent>()
  /** Files without a borrower, the latest last. */
  readonly #kept = new Map<string, Timer>()
  #keptBytes = 0

  constructor(options: KeepingOptions) {
    this.#options = options
  }

  has(name: string): boolean {
    return this.#lent.has(name)
  }

  /** Returns undefined when the file is not lent or kept. */
  borrow(name: string): BorrowedClip | undefined {
    const lent = this.#lent.get(name)
    if (lent === undefined) return undefined
    this.#unkeep(name, lent)
    return this.#lend(name, lent)
  }

  /** Adds a file. One without `bytes` is not kept after its last borrower. */
  add(name: string, file: Omit<File, 'bytes'> & { readonly bytes?: number }): BorrowedClip {
    const lent: Lent = { bytes: Infinity, ...file, borrowers: 0 }
    this.#lent.set(name, lent)
    return this.#lend(name, lent)
  }

  /** Stops lending a file to new borrowers; present ones keep it. */
  withdraw(name: string): void {
    this.#lent.delete(name)
  }

  /** Removes all kept files. */
  clear(): void {
    for (const name of [...this.#kept.keys()]) {
      const lent = this.#lent.get(name)
      if (lent !== undefined) this.#giveBack(name, lent)
    }
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
        const isCurrent = this.#lent.get(name) === lent
        if (isCurrent && this.#options.keptMs > 0 && lent.bytes <= this.#options.maxShortBytes)
          this.#keep(name, lent)
        else this.#giveBack(name, lent)
      },
    }
  }

  #keep(name: string, lent: Lent): void {
    this.#keptBytes += lent.bytes
    this.#kept.set(
      name,
      this.#options.clock.after(this.#options.keptMs, () => this.#giveBack(name, lent)),
    )
    for (const oldest of this.#kept.keys()) {
      if (this.#keptBytes <= this.#options.maxKeptBytes) return
      const one = this.#lent.get(oldest)
      if (one !== undefined) this.#giveBack(oldest, one)
    }
  }

  #unkeep(name: string, { bytes }: Lent): void {
    const timer = this.#kept.get(name)
    if (timer === undefined) return
    timer.cancel()
    this.#kept.delete(name)
    this.#keptBytes -= bytes
  }

  #giveBack(name: string, lent: Lent): void {
    if (this.#lent.get(name) === lent) {
      this.#unkeep(name, lent)
      this.#lent.delete(name)
    }
    lent.onReturned()
  }
}
