// What an application or a client of the API asks of the recording of a leg.
import type { LegRecording } from './leg-recording.ts'

export type RecordAction =
  'startCallRecording' | 'stopCallRecording' | 'pauseCallRecording' | 'resumeCallRecording'

/** Returns what carries it out. Throws AppError call_state for what forbids it. */
export function readyRecording(
  { recording }: { readonly recording: LegRecording },
  action: RecordAction,
): () => Promise<void> | void {
  if (action !== 'startCallRecording') recording.demand()
  const acts = {
    startCallRecording: () => recording.start(),
    stopCallRecording: () => recording.stop(),
    pauseCallRecording: () => recording.mask(true),
    resumeCallRecording: () => recording.mask(false),
  }
  return acts[action]
}
