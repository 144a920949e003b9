// The needs of a call to a target.
import type { NumberTrust } from '../../contracts/number-trust.ts'
import type { Media } from '../../media/media.ts'
import type { OutdialGuard } from '../defence/outdial-guard.ts'
import type { CallStore } from '../journal/journal.ts'
import type { WireTap } from '../journal/wire-tap.ts'
import type { RecordingServices } from '../leg/leg-recording.ts'
import type { Directory, TeamsFacts, TrunkState } from '../ports.ts'
import type { ReachNeeds } from '../reachable-places.ts'
import type { CallRegistry } from '../registry.ts'
import type { CallPool } from '../routing/call-limits.ts'

export interface OutboundNeeds extends ReachNeeds, RecordingServices {
  readonly directory: Directory
  readonly trunks: TrunkState
  readonly numberTrust: NumberTrust
  readonly teams: TeamsFacts
  /** Whether only the operator manages carriers, so that an account may reach only carriers of its own. */
  readonly reservesCarriers: boolean
  readonly media: Pick<Media, 'open' | 'demandServable'>
  readonly store: CallStore
  readonly registry: CallRegistry
  readonly tap: WireTap
  readonly guard: OutdialGuard
  readonly pool: CallPool
  /** Returns a number from 0 up to but not including 1. It distributes calls among carriers. */
  readonly random: () => number
  readonly maxCallMs: number
}
