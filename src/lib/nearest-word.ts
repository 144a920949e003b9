// What a misspelt word was meant to be.

/** The word that takes the fewest changes of one character. */
export function nearestWord(given: string, words: readonly string[]): string | undefined {
  let nearest: string | undefined
  let fewest = Infinity
  for (const word of words) {
    const changes = changesBetween(given, word)
    if (changes >= fewest) continue
    fewest = changes
    nearest = word
  }
  return nearest
}

/** Characters added, removed or replaced: the Levenshtein distance, row by row. */
function changesBetween(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (const [at, character] of Array.from(from).entries()) {
    const next = [at + 1]
    for (let index = 1; index <= to.length; index++)
      next.push(
        Math.min(
          (next[index - 1] ?? 0) + 1,
          (row[index] ?? 0) + 1,
          (row[index - 1] ?? 0) + (to[index - 1] === character ? 0 : 1),
        ),
      )
    row = next
  }
  return row[to.length] ?? 0
}
