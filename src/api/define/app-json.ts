// JSON text of verbs, as applications and calls carry it.
import { AppError } from '../../lib/errors.ts'
import { readJson, UnreadableJson } from '../../lib/read-json.ts'
import type { Services } from '../services.ts'

/** Throws AppError bad_request, which names the fault. */
export async function demandVerbs(app_json: string, verbsFault: Services['verbsFault']): Promise<void> {
  let verbs: unknown
  try {
    verbs = readJson(app_json)
  } catch (error) {
    if (!(error instanceof UnreadableJson)) throw error
    const { message, cause } = error
    const rule = message === 'is not JSON' ? 'app_json must be JSON text' : `app_json ${message}`
    throw new AppError('bad_request', rule, { cause })
  }
  const fault = await verbsFault(verbs)
  if (fault !== undefined) throw new AppError('bad_request', `app_json: ${fault}`)
}

/** Resolves with why these are not verbs, or undefined. */
export async function verbsFault(
  readVerbs: (verbs: unknown) => Promise<unknown>,
  verbs: unknown,
): Promise<string | undefined> {
  try {
    await readVerbs(verbs)
    return undefined
  } catch (error) {
    if (error instanceof AppError && error.code === 'hook_invalid_payload') return error.message
    throw error
  }
}
