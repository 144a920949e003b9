// The needs of an INVITE from its arrival to its end.
import type { Alerts } from '../../contracts/alert.ts'
import type { CallPace } from '../inbound/call-pace.ts'
import type { InboundNeeds } from '../inbound/needs.ts'
import type { LostCallLog, StrangerLog } from '../inbound/stranger-log.ts'
import type { ScriptNeeds } from '../script/needs.ts'

export interface ArrivalNeeds extends InboundNeeds, ScriptNeeds {
  /** Counts incoming calls. */
  readonly pace: CallPace
  readonly logStranger: StrangerLog
  readonly logLost: LostCallLog
  readonly alerts: Alerts | undefined
  /** The time after which a caller that has heard nothing else hears ringing; 0: never. */
  readonly ringingMs: number
}
