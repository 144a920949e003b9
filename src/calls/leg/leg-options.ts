// What a leg is made from, and how it may be hung up.
import type { Clock } from '../../lib/clock.ts'
import type { Logger } from '../../lib/log.ts'
import type { Media, OfferedKeys } from '../../media/media.ts'
import type { HeaderField } from '../../sip/message/message.ts'
import type { JournalWriter } from '../journal/journal-writer.ts'
import type { MediaPathName } from '../journal/journal.ts'
import type { RecordingServices } from './leg-recording.ts'
import type { StatusReporter } from './status-reporter.ts'
import type { Dialog, IncomingReferral } from '../../sip/sip.ts'
import type { HookForm } from '../application/hook-form.ts'
import type { RunnableVerb } from '../verb.ts'
import type { Beside } from '../session/running-script.ts'
import type { Session } from '../session/session.ts'
import type { UnansweredInvite } from './unanswered-invite.ts'

export interface LegOptions {
  /** The one that it belongs to at first. */
  readonly session: Session
  readonly unanswered: UnansweredInvite
  readonly journal: JournalWriter
  readonly status: StatusReporter
  readonly media: Pick<Media, 'open'>
  /** How its media is offered to a caller that offers none; as its transport has it when left out. */
  readonly protection?: OfferedKeys | undefined
  readonly clock: Clock
  readonly log: Logger
  /** The platform hangs up this long after the answer. */
  readonly maxCallMs: number
  readonly onEnded: () => void
  readonly recordings: RecordingServices
}

export interface HangUpOptions {
  readonly headers?: readonly HeaderField[]
  /** Goes out as X-Reason. */
  readonly reason?: string | undefined
  /** What the record says of an answered call instead of who hung up. */
  readonly recorded?: string | undefined
  /** For the journals of this leg and of those that it is connected with; otherwise `reason`. */
  readonly because?: string | undefined
  /** The BYE goes out when this has resolved. */
  readonly after?: Promise<void>
}

/** What runs a leg that goes on by itself. */
export type Successor = HookForm | readonly RunnableVerb[]

/** What the verbs play is heard by the far end of the leg alone, in place of the other side. Throws hook_invalid_payload. */
export type Whisper = (verbs: unknown) => () => Promise<void>

/** The bridge that a leg is in, as a command from outside reaches it. */
export interface LegBridge {
  /** The far end of the leg is no longer heard, or is heard again. */
  mute(isMuted: boolean): Promise<void>
  readonly whisper: Whisper
  readonly beside: Beside
  /**
   * The leg that was dialled becomes a call of its own, which this hook, or these verbs, run. Returns what begins it, and resolves when the two
   * have parted. Throws AppError call_state when each is a call of its own.
   */
  part(next: Successor): () => Promise<void>
  /** Returns what lets the sound take this way. Throws AppError call_state where it must stay with the platform. */
  readyPath(path: MediaPathName): () => Promise<void>
  /** The far end sends the other side elsewhere (RFC 3515). */
  refer(referral: IncomingReferral): void
}

/** Another leg, and who is at its far end. */
export interface LegPeer {
  readonly call_sid: string
  readonly party: string
}

/** The conference that a leg is in, as a command from outside reaches it. */
export interface LegMember {
  mute(isMuted: boolean): void
  /** All who are no moderators. */
  muteOthers(isMuted: boolean): void
  /** `waitHook`: what it hears meanwhile. */
  hold(isHeld: boolean, waitHook: HookForm | undefined): void
  tag(tag: string | undefined): void
  /** Only those with the tag hear it; undefined: all do. */
  coach(tag: string | undefined): void
  /** Lets it leave. */
  kick(): void
  /** The others who are in the conference, in the order in which they came; undefined while it waits for one. */
  others(): readonly LegPeer[] | undefined
}

export type LegState =
  | { readonly state: 'unanswered' }
  | { readonly state: 'answered'; readonly dialog: Dialog }
  | { readonly state: 'ended' }
