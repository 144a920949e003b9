// The actions on the recording of a leg that an application or a client of the API can request.
import type { JournalWriter } from '../journal/journal-writer.ts'
import type { Recorder } from './recorder.ts'
import type { LegRecording } from './leg-recording.ts'
import type { RecordAction, RunningAction } from '../verb/recording-request.ts'

/** Returns the function that carries out the action. Throws AppError call_state if it is not possible. */
export function readyRecording(
  { recording }: { readonly recording: LegRecording },
  action: RecordAction,
): () => Promise<void> | void {
  if (action === 'startCallRecording') return () => recording.start()
  recording.demand()
  return () => changeOwn(recording, action)
}

/** Changes the platform's recording, after the look-up at the answer if it still runs. Throws AppError call_state. */
export async function changeOwn(recording: LegRecording, action: RunningAction): Promise<void> {
  recording.demand()
  await recording.isRunning()
  recording.demand()
  if (action === 'stopCallRecording') recording.stop()
  else recording.mask(action === 'pauseCallRecording')
}

interface RecordedLeg {
  readonly recording: LegRecording
  readonly siprec: Recorder | undefined
  readonly journal: Pick<JournalWriter, 'note'>
}

/** Changes every running recording of the leg, by the platform and by a recording server. */
export async function changeRunning(leg: RecordedLeg, action: RunningAction): Promise<void> {
  const { recording, siprec, journal } = leg
  const isServed = siprec?.isWanted === true
  if (isServed) {
    if (action === 'stopCallRecording') siprec.stop()
    else if (action === 'pauseCallRecording') siprec.pause()
    else siprec.resume()
  }
  if (await recording.isRunning()) await changeOwn(recording, action)
  else if (!isServed) journal.note({ type: 'note', sentence: `${action}: the call is not being recorded` })
}
