// Whether a call that one place refused is tried at the next (calls.md §3.7).

/** The called party itself has spoken: to ring it again over another way would be rude, and cost twice. */
const finalAnswers: ReadonlySet<number> = new Set([486, 487, 600, 603, 604])

export interface FailedAttempt {
  /** Of the final response. */
  readonly status: number
  /** The caller has heard the far end already. */
  readonly hadEarlyMedia: boolean
}

export function mayTryNext({ status, hadEarlyMedia }: FailedAttempt): boolean {
  return !hadEarlyMedia && !finalAnswers.has(status)
}
