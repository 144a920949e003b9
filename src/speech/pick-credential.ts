// The choice among several credentials for one vendor: an account's own before its provider's, one with the requested
// label before one without a label.

export interface Candidate {
  readonly account_sid: string | null
  readonly label: string | null
  readonly created_at: number
}

/** Returns the oldest of the best candidates, so that the choice stays the same. */
export function pickCredential<C extends Candidate>(
  candidates: readonly C[],
  label: string | null,
): C | undefined {
  const rankOf = (candidate: C): number => {
    const isLabelled = candidate.label === label
    // A credential with another label is for another purpose.
    if (!isLabelled && candidate.label !== null) return 0
    return (candidate.account_sid === null ? 1 : 3) + (isLabelled ? 1 : 0)
  }
  let best: C | undefined
  for (const candidate of candidates) {
    const rank = rankOf(candidate)
    const bestRank = best === undefined ? 0 : rankOf(best)
    const isOlder = rank === bestRank && best !== undefined && candidate.created_at < best.created_at
    if (rank > bestRank || (rank > 0 && isOlder)) best = candidate
  }
  return best
}
