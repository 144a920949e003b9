// A refusal with another message; its code, cure and detail stay.
import { AppError } from '../../lib/errors.ts'

export function reworded(error: AppError, message: string): AppError {
  const { code, cure, detail } = error
  return new AppError(code, message, { cause: error, cure, ...(detail === undefined ? {} : { detail }) })
}
