// The one error of the message parsers.
import { AppError } from '../../lib/errors.ts'

/** Returns the error. `reason` is public: it becomes the reason phrase of a 400. */
export function malformed(reason: string, detail?: object): AppError {
  return detail === undefined
    ? new AppError('bad_request', reason)
    : new AppError('bad_request', reason, { detail })
}
