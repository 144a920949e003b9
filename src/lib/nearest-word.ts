// The correction of a misspelt word.

/** Returns the word that takes the fewest changes of one character; undefined if none is near. */
export function nearestWord(given: string, words: readonly string[]): string | undefined {
  let nearest: string | undefined
  let fewest = Infinity
  for (const word of words) {
    const changes = changesBetween(given, word)
    // If every second character differs, it is another word.
    if (changes >= fewest || changes * 2 >= Math.max(given.length, word.length)) continue
    fewest = changes
    nearest = word
  }
  return nearest
}

/**
 * Returns the Damerau-Levenshtein distance, row by row: characters added, removed, replaced, or swapped with the next
 * one.
 */
export function changesBetween(from: string, to: string): number {
  let earlier: readonly number[] = []
  let row: readonly number[] = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let at = 0; at < from.length; at++) {
    const next = [at + 1]
    for (let index = 1; index <= to.length; index++) {
      const isSame = from[at] === to[index - 1]
      const isSwapped = at > 0 && index > 1 && from[at] === to[index - 2] && from[at - 1] === to[index - 1]
      next.push(
        Math.min(
          (next[index - 1] ?? 0) + 1,
          (row[index] ?? 0) + 1,
          (row[index - 1] ?? 0) + (isSame ? 0 : 1),
          isSwapped ? (earlier[index - 2] ?? 0) + 1 : Infinity,
        ),
      )
    }
    earlier = row
    row = next
  }
  return row[to.length] ?? 0
}
