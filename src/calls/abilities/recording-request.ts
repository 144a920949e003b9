// What a verb asks for when a call is to be recorded by the platform.
import type { RecordingWish } from '../../contracts/recording.ts'
import type { RunningAction } from '../leg/ready-recording.ts'

/** One that is made for as long as someone wants it. Neither throws: what fails is in the journal. */
export interface RecordingSpan {
  begin(): void
  end(): void
}

export interface Recording {
  /** Before the answer it is remembered. Throws AppError recording_refused or overloaded. */
  start(): Promise<void>
  /** What becomes of the recording that the platform makes. Throws AppError call_state where nothing is recorded. */
  change(action: RunningAction): Promise<void>
  /** Of whatever records the call, a recording server too. Where nothing does, the journal says so. */
  changeRunning(action: RunningAction): Promise<void>
  /** A call that is recorded already goes on being recorded as it was. */
  span(wish: RecordingWish | undefined): RecordingSpan
}
