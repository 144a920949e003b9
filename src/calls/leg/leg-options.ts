// The options of a leg and of its hang-up, and the interfaces of the bridge and the conference that a leg is in.
import type { Clock } from '../../lib/clock.ts'
import type { Logger } from '../../lib/log.ts'
import type { Media, OfferedKeys } from '../../media/media.ts'
import type { HeaderField } from '../../sip/message/message.ts'
import type { JournalWriter } from '../journal/journal-writer.ts'
import type { MediaPathName, RefusalFact } from '../journal/journal.ts'
import type { RecordingServices } from './leg-recording.ts'
import type { StatusReporter } from './status-reporter.ts'
import type { Dialog, IncomingReferral } from '../../sip/sip.ts'
import type { HookForm } from '../verb/hook-form.ts'
import type { RunnableVerb } from '../verb/verb.ts'
import type { Beside } from '../session/running-script.ts'
import type { Session } from '../session/session.ts'
import type { UnansweredInvite } from './unanswered-invite.ts'

export interface LegOptions {
  /** The session that it belongs to at first. */
  readonly session: Session
  readonly unanswered: UnansweredInvite
  readonly journal: JournalWriter
  readonly status: StatusReporter
  readonly media: Pick<Media, 'open'>
  /** The media encryption offered to a caller whose INVITE has no offer. Left out: by the transport of the caller. */
  readonly protection?: OfferedKeys | undefined
  readonly clock: Clock
  readonly log: Logger
  /** The time after the answer at which the platform hangs up. */
  readonly maxCallMs: number
  readonly onEnded: () => void
  readonly recordings: RecordingServices
}

export interface HangUpOptions {
  readonly headers?: readonly HeaderField[]
  /** Sent as X-Reason. */
  readonly reason?: string | undefined
  /** The reason in the record of an answered call, instead of who hung up. */
  readonly recorded?: string | undefined
  /** The reason in the journals of this leg and of those that it is connected with. Left out: `reason`. */
  readonly because?: string | undefined
  /** The failure in the record, if the call would have gone on without it. */
  readonly failure?: RefusalFact | undefined
  /** The BYE is sent when this has resolved. */
  readonly after?: Promise<void>
}

/** The hook or the verbs that run a leg that continues as a call of its own. */
export type Successor = HookForm | readonly RunnableVerb[]

/** Runs verbs that only the far end of the leg hears, in place of the other side. Throws hook_invalid_payload. */
export type Whisper = (verbs: unknown) => () => Promise<void>

/** The bridge that a leg is in, as a command from outside reaches it. */
export interface LegBridge {
  /** Mutes or unmutes the far end of the leg. */
  mute(isMuted: boolean): Promise<void>
  readonly whisper: Whisper
  readonly beside: Beside
  /**
   * Makes the dialled leg a call of its own, run by this hook or these verbs. Returns the function that begins this,
   * which resolves when the two have parted. Throws AppError call_state when each is a call of its own already.
   */
  part(next: Successor): () => Promise<void>
  /** Returns the function that moves media to this path. Throws AppError call_state if it must stay here. */
  readyPath(path: MediaPathName): () => Promise<void>
  /** Handles a REFER: the far end transfers the other side (RFC 3515). */
  refer(referral: IncomingReferral): void
}

/** Another leg, and the party at its far end. */
export interface LegPeer {
  readonly call_sid: string
  readonly party: string
}

/** The conference that a leg is in, as a command from outside reaches it. */
export interface LegMember {
  mute(isMuted: boolean): void
  /** Mutes or unmutes all members that are not moderators. */
  muteOthers(isMuted: boolean): void
  /** Holds or resumes the member. `waitHook` decides what it hears meanwhile. */
  hold(isHeld: boolean, waitHook: HookForm | undefined): void
  tag(tag: string | undefined): void
  /** Lets only members with the tag hear it; undefined: all members. */
  coach(tag: string | undefined): void
  /** Removes it from the conference. */
  kick(): void
  /** Returns the other members in the order of joining. Undefined while it waits for the conference to begin. */
  others(): readonly LegPeer[] | undefined
}

export type LegState =
  | { readonly state: 'unanswered' }
  | { readonly state: 'answered'; readonly dialog: Dialog }
  | { readonly state: 'ended' }
