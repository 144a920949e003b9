// The needs of queues and conferences.
import type { Hooks } from '../../contracts/hook.ts'
import type { Clock } from '../../lib/clock.ts'
import type { NodeFacts } from '../journal/hook-payloads.ts'
import type { Directory } from '../ports.ts'
import type { Conferences } from './conferences.ts'
import type { Queues } from './queues.ts'

export interface RoomNeeds {
  readonly queues: Queues
  readonly conferences: Conferences
  readonly directory: Directory
  readonly hooks: Hooks
  readonly node: () => NodeFacts
  readonly clock: Clock
}
