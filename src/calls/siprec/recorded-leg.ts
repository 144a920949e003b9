// The parts of a leg that its recorder uses.
import type { Logger } from '../../lib/log.ts'
import type { JournalWriter } from '../journal/journal-writer.ts'
import type { LegEvents } from '../leg/leg-events.ts'
import type { LegMember } from '../leg/leg-options.ts'
import type { LegSound } from '../leg/leg-sound.ts'

export interface RecordedLeg {
  readonly journal: JournalWriter
  readonly log: Logger
  readonly media: { readonly sound: Pick<LegSound, 'join' | 'part'> }
  readonly events: Pick<LegEvents, 'watch'>
  /** Undefined while the leg is in no conference. */
  readonly member: Pick<LegMember, 'others'> | undefined
  readonly isAnswered: boolean
  readonly hasEnded: boolean
  readonly signal: AbortSignal
}
