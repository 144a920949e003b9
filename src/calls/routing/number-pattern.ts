// A phone number that stands for many: `1555*`, or a regular expression.
import { compilePattern } from '../../lib/pattern.ts'
import type { Pattern } from '../../lib/pattern.ts'
import type { NumberFacts, NumberPattern } from '../ports.ts'

/** Undefined for a pattern that cannot be used, which is skipped: customers write them as they like. */
export function createNumberPattern(facts: NumberFacts): NumberPattern | undefined {
  const pattern = prefixPattern(facts.number) ?? compilePattern(facts.number)
  return pattern && { ...facts, matches: (called) => pattern.matches(called) }
}

/** Digits with a star behind them: any further digits. */
function prefixPattern(number: string): Pattern | undefined {
  const prefix = /^(\d*)\*$/.exec(number)?.[1]
  if (prefix === undefined) return undefined
  return { matches: (called) => called.startsWith(prefix) && /^\d*$/.test(called) }
}
