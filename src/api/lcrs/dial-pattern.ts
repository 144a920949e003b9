// The regular expression of a route, which every outbound call is held against: it must compile, and it must not take long.
import { text } from '../define/fields.ts'
import type { Field } from '../define/field.ts'
import { compilePattern } from '../../lib/pattern.ts'
import { AppError } from '../../lib/errors.ts'

// Three in a row try a 132-character number in some 400,000 steps, a few milliseconds; a fourth would take seconds.
const maxRepeats = 3

export function dialPattern(): Field<string> {
  return text({ min: 1, max: 32 })
    .describe('A regular expression that is matched with the number dialled.')
    .example('^49')
}

export function demandDialPattern(pattern: string | undefined, name: string): void {
  const fault = pattern === undefined ? undefined : dialPatternFault(pattern)
  if (fault !== undefined) throw new AppError('bad_request', `${name} ${fault}`)
}

/** The rule that is broken, or undefined. */
export function dialPatternFault(pattern: string): string | undefined {
  if (!isRegularExpression(pattern)) return 'must be a regular expression'
  // What stands for itself repeats nothing.
  const bare = pattern.replace(/\\[^1-9k]/g, 'x').replace(/\[(\\.|[^\]\\])*\]/g, 'x')
  if (/\\[1-9k]/.test(bare)) return 'must not refer back to a group'
  if (/\)[*+{]/.test(bare)) return 'must not repeat a group'
  if (/\(\?(?!:)/.test(bare)) return 'must not look around or name groups'
  const repeats = bare.match(/[*+]|\{\d*,\d*\}/g) ?? []
  if (repeats.length > maxRepeats) return `must not have more than ${maxRepeats} repetitions of any length`
  if (compilePattern(pattern) === undefined) return 'must not stand for so long a text'
  return undefined
}

function isRegularExpression(pattern: string): boolean {
  try {
    return new RegExp(pattern).source.length > 0
  } catch {
    return false
  }
}
