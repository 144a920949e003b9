// The state that all calls of this node share: the services of the platform, the live legs, the wire tap and more.
import type { Admission } from './admission.ts'
import type { CallServices } from './call-services.ts'
import type { OutdialGuard } from './defence/outdial-guard.ts'
import type { CallPace } from './inbound/call-pace.ts'
import type { LostCallLog, StrangerLog } from './inbound/stranger-log.ts'
import type { HeardPaces } from './channel/heard-pace.ts'
import type { Conferences } from './rooms/conferences.ts'
import type { WireTap } from './journal/wire-tap.ts'
import type { CallRegistry } from './registry.ts'
import type { Queues } from './rooms/queues.ts'

export interface CallContext {
  readonly services: CallServices
  readonly registry: CallRegistry
  readonly tap: WireTap
  readonly admission: Admission
  /** Counts incoming calls. */
  readonly pace: CallPace
  readonly guard: OutdialGuard
  readonly queues: Queues
  readonly conferences: Conferences
  readonly heardPaces: HeardPaces
  readonly logStranger: StrangerLog
  readonly logLost: LostCallLog
  /** Makes a call that an application of the account requests. Resolves with its call_sid. Throws AppError. */
  readonly order: (account_sid: string, data: unknown) => Promise<string>
}
