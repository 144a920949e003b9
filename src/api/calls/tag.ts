// The tag of a call, which its application gets with every hook.
import { maxTagLength } from '../../calls/command.ts'
import { AppError } from '../../lib/errors.ts'

/** Returns undefined if none is given. Throws bad_request. */
export function toTag(tag: object | null | undefined): object | undefined {
  if (tag === null || tag === undefined) return undefined
  if (JSON.stringify(tag).length > maxTagLength)
    throw new AppError('bad_request', `tag must have at most ${maxTagLength} characters`)
  return tag
}
