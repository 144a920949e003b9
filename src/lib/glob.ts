// Patterns of names: `*` matches any characters, `?` one character, everything else itself.

/** Matches in at most the product of the two lengths: a client's pattern cannot search for long. */
export function matchesGlob(text: string, pattern: string): boolean {
  let at = 0
  let inPattern = 0
  /** The last star, and the first place where the text after it was looked for. */
  let star = -1
  let resumed = 0
  while (at < text.length) {
    const wanted = pattern[inPattern]
    if (wanted === '*') {
      star = inPattern
      resumed = at
      inPattern += 1
    } else if (wanted === '?' || wanted === text[at]) {
      at += 1
      inPattern += 1
    } else if (star >= 0) {
      resumed += 1
      at = resumed
      inPattern = star + 1
    } else return false
  }
  while (pattern[inPattern] === '*') inPattern += 1
  return inPattern === pattern.length
}
