// How a test says which sentences of the interface specification it covers: in its options, so that
// docs/reference/conformance.md is made of what the tests say.

declare module 'vitest' {
  interface TaskMeta {
    covers?: readonly Sentence[]
  }
}

export interface Sentence {
  /** As the specification is divided: `Fields: User`. */
  readonly section: string
  /** In our words. */
  readonly says: string
  /** What the platform does where the specification leaves it open. */
  readonly chosen?: string
}

/** Goes second to `it`, after the title. */
export function covers(...sentences: readonly Sentence[]): { meta: { covers: readonly Sentence[] } } {
  return { meta: { covers: sentences } }
}
