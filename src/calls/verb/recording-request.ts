// The requests of verbs to record a call by the platform.
import type { RecordingWish } from '../../contracts/recording.ts'

export type RecordAction =
  'startCallRecording' | 'stopCallRecording' | 'pauseCallRecording' | 'resumeCallRecording'

export type RunningAction = Exclude<RecordAction, 'startCallRecording'>

/** A recording between `begin` and `end`. Neither throws; failures are journalled. */
export interface RecordingSpan {
  begin(): void
  end(): void
}

export interface Recording {
  /** Starts the recording, or before the answer remembers to. Throws AppError recording_refused or overloaded. */
  start(): Promise<void>
  /** Changes the recording by the platform. Throws AppError call_state if nothing is recorded. */
  change(action: RunningAction): Promise<void>
  /** Changes every recording of the call, also that of a recording server. If there is none, the journal says so. */
  changeRunning(action: RunningAction): Promise<void>
  /** Returns a span. If the call is recorded already, its recording continues unchanged. */
  span(wish: RecordingWish | undefined): RecordingSpan
}
