// The options of verbs for the time that an action hook takes to answer.
import { Type } from '../../lib/type.ts'
import type { Static } from 'typebox'
import type { WaitWishes } from '../../calls/verb.ts'
import type { Given } from './define-verb.ts'
import { actionHookDelayAction, fillerNoise } from './schemas.ts'

export const waitProperties = {
  fillerNoise: Type.Optional(fillerNoise),
  actionHookDelayAction: Type.Optional(actionHookDelayAction),
}

const waitOptions = Type.Object(waitProperties)

/** Converts the options that are set. Throws hook_invalid_payload for invalid verbs. */
export function toWishes(
  options: Static<typeof waitOptions>,
  settings: Given<'settings'>['settings'],
): WaitWishes {
  const { fillerNoise: filler, actionHookDelayAction: delay } = options
  return {
    ...(filler === undefined ? {} : { filler: settings.toFiller(filler) }),
    ...(delay === undefined ? {} : { hookDelay: settings.toHookDelay(delay) }),
  }
}
