// The refusal of a part of the interface that this release does not serve, with what to do instead.
import { AppError } from './errors.ts'

/** Returns the refusal. `cure` says what to do instead. */
export function notServed(what: string, cure: string): AppError {
  return new AppError('not_served', `${what} is not served yet`, { cure })
}

/** The cures that several parts of the interface share. */
export const inPlaceOf = {
  leftOut: 'Leave it out: the call goes on without it.',
  models:
    'Let a server of yours that `listen` connects with the call speak with the model: with `bidirectionalAudio` it hears the caller and is heard.',
} as const
