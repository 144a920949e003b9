// JSON text of verbs, as applications and calls carry it.
import { AppError } from '../../lib/errors.ts'
import { isNestedTooDeep, maxNesting } from '../../lib/nesting.ts'
import type { Services } from '../services.ts'

/** Throws AppError bad_request, which names the fault. */
export function demandVerbs(app_json: string, verbsFault: Services['verbsFault']): void {
  if (isNestedTooDeep(app_json))
    throw new AppError('bad_request', `app_json must not be nested more than ${maxNesting} levels deep`)
  let verbs: unknown
  try {
    verbs = JSON.parse(app_json)
  } catch (cause) {
    throw new AppError('bad_request', 'app_json must be JSON text', { cause })
  }
  const fault = verbsFault(verbs)
  if (fault !== undefined) throw new AppError('bad_request', `app_json: ${fault}`)
}

/** Returns why these are not verbs, or undefined. */
export function verbsFault(parseVerbs: (verbs: unknown) => unknown, verbs: unknown): string | undefined {
  try {
    parseVerbs(verbs)
    return undefined
  } catch (error) {
    if (error instanceof AppError) return error.message
    throw error
  }
}
