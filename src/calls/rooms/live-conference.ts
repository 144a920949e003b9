// A conference as the API lists it. The names are those of the wire, as for a live call.
import type { Conference } from './conference.ts'

export interface LiveConference {
  readonly name: string
  readonly conference_sid: string
  /** False while all its members wait for one that starts it. */
  readonly has_started: boolean
  /** In the order in which they entered. */
  readonly participants: readonly LiveParticipant[]
}

export interface LiveParticipant {
  readonly call_sid: string
  readonly from: string
  readonly to: string
  readonly is_moderator: boolean
  readonly is_muted: boolean
  readonly is_on_hold: boolean
  readonly member_tag?: string
  readonly speak_only_to?: string
}

export function toLiveConference({
  name,
  conference_sid,
  isRunning,
  participants,
}: Conference): LiveConference {
  return {
    name,
    conference_sid,
    has_started: isRunning,
    participants: participants.map(({ leg, isModerator, isMuted, isHeld, tag, coaches }) => {
      const { call_sid, from, to } = leg.journal.facts.started
      return {
        call_sid,
        from,
        to,
        is_moderator: isModerator,
        is_muted: isMuted,
        is_on_hold: isHeld,
        ...(tag === undefined ? {} : { member_tag: tag }),
        ...(coaches === undefined ? {} : { speak_only_to: coaches }),
      }
    }),
  }
}
