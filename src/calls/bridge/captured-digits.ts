// The key sequences that an application waits for. A sequence matches when the last keys pressed equal it.

/** A longer pause between two keys begins a new sequence. */
const maxPauseMs = 3000

export class CapturedDigits {
  readonly #sequences: readonly string[]
  readonly #longest: number
  #pressed = ''
  #lastMs = -Infinity

  constructor(sequences: readonly string[]) {
    // If two sequences have the same end, the longer one was meant.
    this.#sequences = sequences.filter((text) => text !== '').toSorted((a, b) => b.length - a.length)
    this.#longest = this.#sequences[0]?.length ?? 0
  }

  /** Returns the sequence that this key completes, if it completes one. */
  press(digit: string, nowMs: number): string | undefined {
    const before = nowMs - this.#lastMs > maxPauseMs ? '' : this.#pressed
    this.#lastMs = nowMs
    if (this.#longest === 0) return undefined
    this.#pressed = (before + digit).slice(-this.#longest)
    const found = this.#sequences.find((text) => this.#pressed.endsWith(text))
    if (found !== undefined) this.#pressed = ''
    return found
  }
}
