// What a leg is made from, and how it may be hung up.
import type { Clock } from '../../lib/clock.ts'
import type { Logger } from '../../lib/log.ts'
import type { Media } from '../../media/media.ts'
import type { HeaderField } from '../../sip/message/message.ts'
import type { JournalWriter } from '../journal/journal-writer.ts'
import type { StatusReporter } from './status-reporter.ts'
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
}
