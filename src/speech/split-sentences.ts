// The division of long text where a speaker would breathe, so that each piece can be synthesised and played alone.
import { maxUtteranceLength } from './vendor.ts'

// Preferred boundaries first: the end of a sentence, of a clause, of a word.
const boundaries = [/[.!?…。！？]["')\]]*\s/g, /[;:,–—]\s/g, /\s/g]

/** Returns pieces of at most `maxLength` UTF-16 units, none of them empty. */
export function splitSentences(text: string, maxLength = maxUtteranceLength): string[] {
  const pieces: string[] = []
  let rest = text.trim()
  while (rest.length > maxLength) {
    const cut = cutAt(rest, maxLength)
    pieces.push(rest.slice(0, cut).trimEnd())
    rest = rest.slice(cut).trimStart()
  }
  return rest === '' ? pieces : [...pieces, rest]
}

function cutAt(text: string, maxLength: number): number {
  // One more character, so that a boundary whose white space comes just after the limit is found.
  const window = text.slice(0, maxLength + 1)
  for (const boundary of boundaries) {
    let end = 0
    for (const match of window.matchAll(boundary)) end = match.index + match[0].trimEnd().length
    if (end > 0) return end
  }
  // The text is one endless word. A surrogate pair is not split.
  const last = text.charCodeAt(maxLength - 1)
  return last >= 0xd800 && last <= 0xdbff ? maxLength - 1 : maxLength
}
