// What a leg knows of its recording by a recording server.
import type { HeaderField } from '../../sip/message/message.ts'

export interface SiprecOrder {
  /** SIP URIs of recording servers: the next one is tried where one does not take the recording. */
  readonly servers: readonly string[]
  readonly recordingId: string | undefined
  readonly headers: readonly HeaderField[]
}

/** Each takes place in its turn; what fails stands in the journal. */
export interface Recorder {
  /** From its start until it is stopped, or no server is left. */
  readonly isWanted: boolean
  /** Begins when the leg is answered. Throws AppError call_state while it is recorded. */
  start(order: SiprecOrder): void
  stop(): void
  /** The server is sent nothing of the talk until it is resumed. */
  pause(): void
  resume(): void
}
