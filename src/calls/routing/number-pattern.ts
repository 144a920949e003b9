// A phone number that matches many: `1555*`, or a regular expression.
import { compilePattern, type Pattern } from '../../lib/pattern.ts'
import type { NumberFacts, NumberPattern } from '../ports.ts'

/** Returns undefined for an invalid pattern, which is skipped: customers may enter any text. */
export function createNumberPattern(facts: NumberFacts): NumberPattern | undefined {
  const pattern = prefixPattern(facts.number) ?? compilePattern(facts.number)
  return pattern && { ...facts, size: pattern.size, matches: (called) => pattern.matches(called) }
}

/** Parses digits followed by a star, which stands for more digits. */
function prefixPattern(number: string): Pattern | undefined {
  const prefix = /^(\d*)\*$/.exec(number)?.[1]
  if (prefix === undefined) return undefined
  // A comparison takes no step worth counting.
  return { size: 0, matches: (called) => called.startsWith(prefix) && /^\d*$/.test(called) }
}
