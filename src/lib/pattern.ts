// Regular expressions from strangers, matched in a time that grows only with the text and the pattern.
import { createRequire } from 'node:module'
import type { RE2JS } from 're2js'

export interface Pattern {
  /** Reports whether it matches anywhere in the text, as a regular expression without flags does. */
  matches(text: string): boolean
}

interface Engine {
  readonly RE2JS: typeof RE2JS
}

let engine: Engine | undefined

// Four megabytes, which a platform without patterns need not load.
const load = (): Engine => (engine ??= createRequire(import.meta.url)('re2js') as Engine)

/**
 * Returns undefined for text that is not a regular expression, refers back, looks around, or repeats too much (RE2's
 * syntax).
 */
export function compilePattern(text: string): Pattern | undefined {
  const { RE2JS } = load()
  try {
    const compiled = RE2JS.compile(text)
    return { matches: (candidate) => compiled.matcher(candidate).find() }
  } catch {
    return undefined
  }
}
