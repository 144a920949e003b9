// Which of several credentials for one vendor serves: an account's own before its provider's, the label asked for
// before none.

export interface Candidate {
  readonly account_sid: string | null
  readonly label: string | null
  readonly created_at: number
}

/** The oldest of the best, so that the choice stays the same. */
export function pickCredential<C extends Candidate>(
  candidates: readonly C[],
  label: string | null,
): C | undefined {
  const rankOf = (candidate: C): number => {
    const isLabelled = candidate.label === label
    // A label other than the one asked for was chosen for another purpose.
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
