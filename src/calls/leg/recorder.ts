// The interface by which a leg controls its recording by a recording server.
import type { HeaderField } from '../../sip/message/message.ts'

export interface SiprecOrder {
  /** SIP URIs of recording servers. If one refuses the recording, the next is tried. */
  readonly servers: readonly string[]
  readonly recordingId: string | undefined
  readonly headers: readonly HeaderField[]
}

/** The operations run in the order of the calls. Failures are written to the journal. */
export interface Recorder {
  /** True from `start` until `stop`, or until no server is left. */
  readonly isWanted: boolean
  /** Begins recording when the leg is answered. Throws AppError call_state if it is recorded already. */
  start(order: SiprecOrder): void
  stop(): void
  /** Stops sending audio to the server until `resume`. */
  pause(): void
  resume(): void
}
