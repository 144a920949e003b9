// Verbs that an application has as text, in place of a hook.
import { AppError } from '../../lib/errors.ts'
import { isNestedTooDeep, maxNesting } from '../../lib/nesting.ts'
import type { ParseVerbs, RunnableVerb } from '../verb.ts'

/** The verbs of `app_json`; the same rules as for an answer over HTTP. */
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
