// The option by which a test names the sentences of the interface specification that it covers;
// docs/reference/conformance.md is made from these.

declare module 'vitest' {
  interface TaskMeta {
    covers?: readonly Sentence[]
  }
}

export interface Sentence {
  /** The section by the specification's own division: `Fields: User`. */
  readonly section: string
  /** The sentence in our words. */
  readonly says: string
  /** The behaviour that the platform chose where the specification leaves it open. */
  readonly chosen?: string
}

/** Returns the second argument of `it`, after the title. */
export function covers(...sentences: readonly Sentence[]): { meta: { covers: readonly Sentence[] } } {
  return { meta: { covers: sentences } }
}
