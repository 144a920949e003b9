// The one failure of the message parsers.
import { AppError } from '../../lib/errors.ts'

/** `reason` is public: it goes into the phrase of a 400. */
export function malformed(reason: string, detail?: object): AppError {
  return detail === undefined
    ? new AppError('bad_request', reason)
    : new AppError('bad_request', reason, { detail })
}
