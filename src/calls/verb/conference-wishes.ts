// The options of the verb conference, for the call that enters.
import type { HookForm } from './hook-form.ts'

/** A call that wants to enter. */
export interface Entry {
  readonly id: string
  /** False if the call waits for another one to start the conference. */
  readonly startsIt: boolean
  /** A moderator. The conference ends when the last one has left and no other comes within the grace of that one. */
  readonly isModerator: boolean
  readonly graceMs: number
  readonly isMuted: boolean
  /** The tag by which coaches address it. */
  readonly tag: string | undefined
  /** Set for a coach: only members with this tag hear it. */
  readonly coaches: string | undefined
  /** The first call that sets it sets it for the whole conference. */
  readonly maxMembers: number | undefined
}

export const statusEventNames = ['start', 'end', 'join', 'leave', 'start-talking', 'stop-talking'] as const
export type StatusEventName = (typeof statusEventNames)[number]

export interface ConferenceWishes extends Omit<Entry, 'id'> {
  readonly name: string
  /** True if the others hear a tone when the call joins. */
  readonly beeps: boolean
  /** True if the keys of this call are also sent to all other members. */
  readonly distributesKeys: boolean
  /** Played while the call waits, again and again. */
  readonly waitHook?: HookForm | undefined
  /** Played once when the call has joined. */
  readonly enterHook?: HookForm | undefined
  /** Those of the first call count for the whole conference. */
  readonly statusHook?: HookForm | undefined
  readonly statusEvents: readonly StatusEventName[]
}
