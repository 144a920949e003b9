// The ability to send keys to the far end.
import type { Leg } from '../leg/leg.ts'
import type { Keys } from '../verb/abilities.ts'
import { whileWanted } from '../session/while-wanted.ts'

export function createKeys({ keys }: Pick<Leg, 'keys'>): Keys {
  return { press: (digits, { durationMs, signal }) => whileWanted(keys.press(digits, durationMs), signal) }
}
