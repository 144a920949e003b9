// Verbs that an application has as text instead of a call hook.
import { AppError } from '../../lib/errors.ts'
import { isNestedTooDeep, maxNesting } from '../../lib/nesting.ts'
import type { ParseVerbs, RunnableVerb } from '../verb.ts'

/** Parses the verbs of `app_json`, by the same rules as an answer over HTTP. */
export function parseAppJson(text: string, parseVerbs: ParseVerbs): readonly RunnableVerb[] {
  if (isNestedTooDeep(text))
    throw new AppError(
      'hook_invalid_payload',
      `app_json of the application is nested more than ${maxNesting} levels deep`,
    )
  let list: unknown
  try {
    list = JSON.parse(text)
  } catch (error) {
    throw new AppError('hook_invalid_payload', 'app_json of the application is not JSON', { cause: error })
  }
  return parseVerbs(list)
}
