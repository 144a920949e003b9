// The needs of a call that is connected with others.
import type { Streams } from '../../contracts/audio-stream.ts'
import type { Admission } from '../admission.ts'
import type { OutboundNeeds } from '../outbound/needs.ts'
import type { ParseVerbs } from '../verb/verb.ts'

export interface BridgeNeeds extends OutboundNeeds {
  readonly admission: Admission
  readonly verbs: ParseVerbs
  readonly streams: Streams
}
