// A message on the wire, for those who keep a record.
import type { SipMessage } from '../message/message.ts'
import type { Remote } from './transports.ts'

/** A message that was sent or received, for those who keep a record. `raw` is its exact bytes. */
export interface WireEvent {
  readonly direction: 'received' | 'sent'
  readonly callId: string
  readonly message: SipMessage
  readonly raw: Uint8Array
  readonly remote: Remote
}
