// Regular expressions of strangers, matched in a time that grows with the text and the pattern and with nothing else.
import { createRequire } from 'node:module'
import type { RE2JS } from 're2js'

export interface Pattern {
  /** Whether it matches anywhere in the text, as a regular expression without flags does. */
  matches(text: string): boolean
}

interface Engine {
  readonly RE2JS: typeof RE2JS
}

let engine: Engine | undefined

// Four megabytes that a platform without patterns need not carry.
const load = (): Engine => (engine ??= createRequire(import.meta.url)('re2js') as Engine)

/** Undefined when the text is no regular expression, refers back, looks around, or repeats too much (RE2's syntax). */
export function compilePattern(text: string): Pattern | undefined {
  const { RE2JS } = load()
  try {
    const compiled = RE2JS.compile(text)
    return { matches: (candidate) => compiled.matcher(candidate).find() }
  } catch {
    return undefined
  }
}
