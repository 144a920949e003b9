// Access to running a verb beside those of a call.
import type { LegBridge, Leg } from '../../calls/command.ts'
import { AppError } from '../../lib/errors.ts'

/** Throws AppError call_state. */
export function besideOf({ script, bridge }: Leg): LegBridge['beside'] {
  const beside = (script ?? bridge)?.beside
  if (beside === undefined)
    throw new AppError('call_state', 'no verbs run the call, and it talks with no one', {
      cure: 'Send it while verbs run the call, or while it talks with another one.',
    })
  return beside
}
