// The regular expression of a route, which is matched with every outbound call and so must compile.
import { text } from '../define/fields.ts'
import type { Field } from '../define/field.ts'
import { compilePattern } from '../../lib/pattern.ts'
import { AppError } from '../../lib/errors.ts'

export function dialPattern(): Field<string> {
  return text({ min: 1, max: 32 })
    .describe(
      'A regular expression (RE2: no back references, no look-around) that is matched with the dialled number.',
    )
    .example('^49')
}

export function demandDialPattern(pattern: string | undefined, name: string): void {
  if (pattern === undefined || compilePattern(pattern) !== undefined) return
  throw new AppError('bad_request', `${name} must be a regular expression`, {
    cure: 'Write a pattern of the RE2 syntax: without back references, look-ahead and look-behind.',
  })
}
