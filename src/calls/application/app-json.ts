// Verbs that an application has as text instead of a call hook.
import { AppError } from '../../lib/errors.ts'
import { readJson, UnreadableJson } from '../../lib/read-json.ts'
import type { ParseVerbs, RunnableVerb } from '../verb.ts'

/** Parses the verbs of `app_json`, by the same rules as an answer over HTTP. */
export function parseAppJson(text: string, parseVerbs: ParseVerbs): readonly RunnableVerb[] {
  let list: unknown
  try {
    list = readJson(text)
  } catch (error) {
    if (!(error instanceof UnreadableJson)) throw error
    throw new AppError('hook_invalid_payload', `app_json of the application ${error.message}`, {
      cause: error,
    })
  }
  return parseVerbs(list)
}
