// What the verb conference says of one who enters.
import type { HookForm } from '../application/hook-form.ts'
import type { Entry } from './conference-state.ts'

export const statusEventNames = ['start', 'end', 'join', 'leave', 'start-talking', 'stop-talking'] as const
export type StatusEventName = (typeof statusEventNames)[number]

export interface ConferenceWishes extends Omit<Entry, 'id'> {
  readonly name: string
  /** The others hear a tone when it comes in. */
  readonly beeps: boolean
  /** The keys that it presses are pressed at all others too. */
  readonly distributesKeys: boolean
  /** Heard while it waits, again and again. */
  readonly waitHook?: HookForm
  /** Heard when it is in, once. */
  readonly enterHook?: HookForm
  /** Those of the first one count for all. */
  readonly statusHook?: HookForm
  readonly statusEvents: readonly StatusEventName[]
}
