// Regular expressions of tenants. How much work one can cause is counted before it is compiled and before it is matched.
import { createRequire } from 'node:module'
import { setImmediate } from 'node:timers/promises'
import type { RE2JS } from 're2js'

export interface Pattern {
  /** The instructions of its program. Matching takes at most this many steps for each character and one more. */
  readonly size: number
  /** Reports whether it matches anywhere in a text of up to `maxMatched` characters. It matches no longer text. */
  matches(text: string): boolean
}

/** `syntax`: not a regular expression of RE2's syntax. `size`: its program has more than `maxInstructions`. */
export type PatternFault = 'syntax' | 'size'

/** Room for `^1[2-9]\d{2}[2-9]\d{6}$` twelve times. A program of this size takes 0.1 ms to match 32 characters. */
export const maxInstructions = 200
export const maxRepeats = 32
/** E.164 §6.2 allows 15 digits, and a prefix or an extension may be added. A longer text is not a number. */
export const maxMatched = 32

// Far more than the patterns that the calls of one minute use; a program has up to 35 kB.
const maxKept = 1000

interface Engine {
  readonly RE2JS: typeof RE2JS
}

let engine: Engine | undefined

// Four megabytes, which a platform without patterns need not load.
const load = (): Engine => (engine ??= createRequire(import.meta.url)('re2js') as Engine)

/** The latest used last. What a text compiles to depends on nothing else, so one table serves all. */
const kept = new Map<string, Pattern | PatternFault>()

/** Returns undefined for text that `patternFault` finds a fault in. */
export function compilePattern(text: string): Pattern | undefined {
  const found = kept.get(text) ?? compile(text)
  kept.delete(text)
  kept.set(text, found)
  if (kept.size > maxKept) for (const [oldest] of kept.entries().take(1)) kept.delete(oldest)
  return typeof found === 'string' ? undefined : found
}

/** Returns why a text cannot be used as a pattern. */
export function patternFault(text: string): PatternFault | undefined {
  if (compilePattern(text) !== undefined) return undefined
  const found = kept.get(text)
  return typeof found === 'string' ? found : undefined
}

/** Compiles each text that is not kept, and lets other work run in between, so that what follows finds them compiled. */
export async function compileInTurns(texts: readonly string[]): Promise<void> {
  for (const text of texts) {
    if (kept.has(text)) continue
    compilePattern(text)
    await setImmediate()
  }
}

function compile(text: string): Pattern | PatternFault {
  // Twice the bound: the count is rough, and a program of this size compiles within a millisecond.
  if (roughSize(text) > 2 * maxInstructions) return 'size'
  const { RE2JS } = load()
  try {
    const compiled = RE2JS.compile(text)
    const size = compiled.programSize()
    if (size > maxInstructions) return 'size'
    return {
      size,
      matches: (candidate) => candidate.length <= maxMatched && compiled.matcher(candidate).find(),
    }
  } catch {
    return 'syntax'
  }
}

const count = /\{(\d+)(,(\d*))?\}/y
// Classes of Unicode and wide ranges have thousands of members, each of which is folded if case does not count.
const wide = /\\[pP]|\\x\{|[\u0100-\u{10ffff}]/u

/**
 * Returns about as many instructions as the program of a regular expression will have; Infinity if it repeats more than
 * `maxRepeats` times or has a class of Unicode. `text` need not be valid. Takes one pass, unlike compiling.
 */
export function roughSize(text: string): number {
  const open: number[] = []
  /** The instructions since the last open parenthesis, without those of `last`. */
  let sum = 0
  /** The instructions of the last character, class or group, which a repetition repeats. */
  let last = 0
  for (let at = 0; at < text.length; at++) {
    const char = text[at]
    if (char === '(') {
      open.push(sum + last)
      sum = 0
      last = 0
    } else if (char === ')') {
      last += sum + 2
      sum = open.pop() ?? 0
    } else if (char === '*' || char === '+' || char === '?') last += 1
    else if (char === '|') {
      sum += last + 1
      last = 0
    } else {
      const repeated = char === '{' ? countAt(text, at) : undefined
      const end = repeated?.end ?? endOfAtom(text, at)
      const atom = text.slice(at, end + 1)
      if (repeated !== undefined) {
        if (repeated.copies > maxRepeats) return Infinity
        last = (last + 1) * (repeated.copies + 1)
      } else {
        const isWide = (char === '[' || char === '\\') && !atom.startsWith('\\Q') && wide.test(atom)
        if (isWide) return Infinity
        sum += last
        last = atom.startsWith('\\Q') ? atom.length : 1
      }
      at = end
    }
  }
  return sum + last + open.reduce((all, one) => all + one, 0)
}

function countAt(text: string, at: number): { readonly copies: number; readonly end: number } | undefined {
  count.lastIndex = at
  const [all, min = '', , max = ''] = count.exec(text) ?? []
  if (all === undefined) return undefined
  return { copies: Math.max(Number(min), Number(max)), end: at + all.length - 1 }
}

/** Returns the place of the last character of a class, an escape, a quotation or a plain character. */
function endOfAtom(text: string, at: number): number {
  if (text.startsWith('\\Q', at)) {
    const end = text.indexOf('\\E', at)
    return end < 0 ? text.length - 1 : end + 1
  }
  if (text[at] === '\\') return text.startsWith('x{', at + 1) ? at + 2 : at + 1
  if (text[at] !== '[') return at
  let end = text[at + 1] === '^' ? at + 2 : at + 1
  // A closing bracket that comes first is a member.
  if (text[end] === ']') end += 1
  for (; end < text.length && text[end] !== ']'; end++) {
    if (text[end] === '\\') end += 1
    else if (text.startsWith('[:', end)) {
      const named = text.indexOf(':]', end + 2)
      if (named >= 0) end = named + 1
    }
  }
  return end
}
