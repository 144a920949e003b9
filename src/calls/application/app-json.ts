// Verbs that an application has as text instead of a call hook.
import { AppError } from '../../lib/errors.ts'
import { readJson, UnreadableJson } from '../../lib/read-json.ts'

/** Returns the list in `app_json`, whose verbs are not parsed yet. Throws hook_invalid_payload. */
export function readAppJson(text: string): unknown {
  try {
    return readJson(text)
  } catch (error) {
    if (!(error instanceof UnreadableJson)) throw error
    throw new AppError('hook_invalid_payload', `app_json of the application ${error.message}`, {
      cause: error,
    })
  }
}
