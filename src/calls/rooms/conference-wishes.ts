// The options of the verb conference, for the call that enters.
import type { HookForm } from '../application/hook-form.ts'
import type { Entry } from './conference-state.ts'

export const statusEventNames = ['start', 'end', 'join', 'leave', 'start-talking', 'stop-talking'] as const
export type StatusEventName = (typeof statusEventNames)[number]

export interface ConferenceWishes extends Omit<Entry, 'id'> {
  readonly name: string
  /** True if the others hear a tone when the call joins. */
  readonly beeps: boolean
  /** True if the keys of this call are also sent to all other members. */
  readonly distributesKeys: boolean
  /** Played while the call waits, again and again. */
  readonly waitHook?: HookForm
  /** Played once when the call has joined. */
  readonly enterHook?: HookForm
  /** Those of the first call count for the whole conference. */
  readonly statusHook?: HookForm
  readonly statusEvents: readonly StatusEventName[]
}
