// Whether a call that one place refused is tried at the next.

/** With these the called party itself has refused: calling it again by another way would be rude, and cost twice. */
const finalAnswers: ReadonlySet<number> = new Set([486, 487, 600, 603, 604])

export interface FailedAttempt {
  /** The status of the final response. */
  readonly status: number
  /** The caller has heard the far end already. */
  readonly hadEarlyMedia: boolean
}

export function mayTryNext({ status, hadEarlyMedia }: FailedAttempt): boolean {
  return !hadEarlyMedia && !finalAnswers.has(status)
}
