// The regular expression of a route, which every outbound call is held against: it must compile.
import { text } from '../define/fields.ts'
import type { Field } from '../define/field.ts'
import { compilePattern } from '../../lib/pattern.ts'
import { AppError } from '../../lib/errors.ts'

export function dialPattern(): Field<string> {
  return text({ min: 1, max: 32 })
    .describe(
      'A regular expression (RE2: no references back, no looking around) that is matched with the number dialled.',
    )
    .example('^49')
}

export function demandDialPattern(pattern: string | undefined, name: string): void {
  if (pattern === undefined || compilePattern(pattern) !== undefined) return
  throw new AppError('bad_request', `${name} must be a regular expression`, {
    cure: 'Write a pattern of the RE2 syntax: without references back and without looking ahead or behind.',
  })
}
