// The decision whether a call that one place refused is tried at the next.

// The place was silent, could not reach the called party now, or failed itself. Any other refusal is a decision of the
// called party or the carrier: calling again by another way would be rude, and cost twice.
function isCause(status: number): boolean {
  // A redirect that is not followed leads nowhere.
  if (status < 400 || status === 408 || status === 480) return true
  // 501 and 505 are about the request, which is the same at every place.
  return status >= 500 && status < 600 && status !== 501 && status !== 505
}

export interface FailedAttempt {
  /** The status of the final response. */
  readonly status: number
  /** Whether the caller has heard the far end already. */
  readonly hadEarlyMedia: boolean
}

export function mayTryNext({ status, hadEarlyMedia }: FailedAttempt): boolean {
  return !hadEarlyMedia && isCause(status)
}
