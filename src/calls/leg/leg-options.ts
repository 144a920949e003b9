// What a leg is made from, and how it may be hung up.
import type { Clock } from '../../lib/clock.ts'
import type { Logger } from '../../lib/log.ts'
import type { Media } from '../../media/media.ts'
import type { HeaderField } from '../../sip/message/message.ts'
import type { JournalWriter } from '../journal/journal-writer.ts'
import type { StatusReporter } from './status-reporter.ts'
import type { Hook } from '../../contracts/hook.ts'
import type { CallScript } from '../ports.ts'
import type { IncomingReferral } from '../../sip/sip.ts'
import type { RunnableVerb } from '../verb.ts'
import type { UnansweredInvite } from './unanswered-invite.ts'

export interface LegOptions {
  readonly unanswered: UnansweredInvite
  readonly journal: JournalWriter
  readonly status: StatusReporter
  readonly media: Pick<Media, 'open'>
  readonly clock: Clock
  readonly log: Logger
  /** The platform hangs up this long after the answer. */
  readonly maxCallMs: number
  readonly onEnded: () => void
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

/** Reads a list of the allowed verbs, and returns what runs it on the leg, beside its own. Throws hook_invalid_payload. */
export type Beside = (verbs: unknown, allowed: ReadonlySet<string>) => () => Promise<void>

/** The verbs that run a call, as a command from outside and its far end reach them. */
export interface RunningScript {
  /** Where they came from. */
  readonly source: CallScript
  /** The far end asks for another call (RFC 3515). */
  refer(referral: IncomingReferral): void
  /** Failures are journalled, and the call goes on as it was. `because`: who wants it, in words for the journal. */
  takeOver(hook: Hook, because: string): Promise<void>
  /** These verbs come at once, in place of the running one and all that were to follow. */
  interrupt(verbs: readonly RunnableVerb[], because: string): void
  readonly beside: Beside
}

/** The bridge that a leg is in, as a command from outside reaches it. */
export interface LegBridge {
  /** The far end of the leg is no longer heard, or is heard again. */
  mute(isMuted: boolean): Promise<void>
  /** What the verbs play is heard by the far end of the leg alone, in place of the other side. Throws hook_invalid_payload. */
  whisper(verbs: unknown): () => Promise<void>
  readonly beside: Beside
  /** The leg that was dialled becomes a call of its own, which this hook runs. */
  part(hook: Hook): void
  /** The far end sends the other side elsewhere (RFC 3515). */
  refer(referral: IncomingReferral): void
}
