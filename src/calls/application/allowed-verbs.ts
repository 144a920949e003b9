// The check of verbs in places where only some of them make sense.
import { AppError } from '../../lib/errors.ts'
import type { RunnableVerb } from '../verb/verb.ts'

/** Throws hook_invalid_payload if a verb may not run here. */
export function demandAllowed(verbs: readonly RunnableVerb[], allowed: ReadonlySet<string>): void {
  verbs.forEach(({ name }, index) => {
    if (allowed.has(name)) return
    const sentence = `verb ${index + 1} (${name}): only ${namesOf(allowed)} may run here`
    throw new AppError('hook_invalid_payload', sentence)
  })
}

/** Returns `a, b and c`. */
function namesOf(allowed: ReadonlySet<string>): string {
  return [...allowed].join(', ').replace(/, ([^,]*)$/, ' and $1')
}
