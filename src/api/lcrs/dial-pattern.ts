// The regular expression of a route, which is matched with every outbound call and so must compile.
import { text } from '../define/fields.ts'
import type { Field } from '../define/field.ts'
import { maxInstructions, maxMatched, maxRepeats, patternFault } from '../../lib/pattern.ts'
import { AppError } from '../../lib/errors.ts'

export function dialPattern(): Field<string> {
  return text({ min: 1, max: 32 })
    .describe(
      `A regular expression (RE2: no back references, no look-around) that is matched with the digits of the dialled number, without plus and separators, if there are at most ${maxMatched}. It may have ${maxInstructions} instructions when compiled, and repeat a part {n} up to ${maxRepeats} times.`,
    )
    .example('^49')
}

/** Throws bad_request for a pattern that does not compile, or to a program that is too large. */
export function demandDialPattern(pattern: string | undefined, name: string): void {
  const fault = pattern === undefined ? undefined : patternFault(pattern)
  if (fault === 'syntax')
    throw new AppError('bad_request', `${name} must be a regular expression`, {
      cure: 'Write a pattern of the RE2 syntax: without back references, look-ahead and look-behind.',
    })
  if (fault === 'size') throw tooLarge(name)
}

export function tooLarge(name: string): AppError {
  return new AppError(
    'bad_request',
    `${name} is too large a pattern: at most ${maxInstructions} instructions, ${maxRepeats} repetitions, and no class of Unicode`,
    { cure: 'Repeat fewer and smaller groups, and split the pattern if that is not enough.' },
  )
}
