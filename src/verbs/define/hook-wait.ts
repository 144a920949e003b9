// What verbs take about the time that an action hook takes.
import { Type } from './type.ts'
import type { Static } from 'typebox'
import type { WaitWishes } from '../../calls/application/settings.ts'
import type { Given } from './define-verb.ts'
import { actionHookDelayAction, fillerNoise } from './schemas.ts'

export const waitProperties = {
  fillerNoise: Type.Optional(fillerNoise),
  actionHookDelayAction: Type.Optional(actionHookDelayAction),
}

const waitOptions = Type.Object(waitProperties)

/** Only what it says. Throws hook_invalid_payload for verbs that make no sense. */
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
