// How long the patterns of tenants may be matched with one number, counted before they are matched.
import type { Pattern } from '../../lib/pattern.ts'

// A step takes about 20 ns, and so a decision about 2 ms with the time to begin each match. A hundred patterns of
// ordinary length take 25,000 steps.
export const maxSteps = 60_000

export class MatchBudget {
  #left: number

  constructor(steps = maxSteps) {
    this.#left = steps
  }

  /**
   * Reports whether the pattern matches, or returns undefined without matching it: once the steps do not suffice for a
   * pattern, no other is matched either, so that their order still decides.
   */
  matches(pattern: Pattern, number: string): boolean | undefined {
    this.#left -= pattern.size * (number.length + 1)
    return this.#left < 0 ? undefined : pattern.matches(number)
  }
}
