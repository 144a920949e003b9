// The ability to record the audio that the far end sends and hears.
import type { RecordingWish } from '../../contracts/recording.ts'
import type { Leg } from '../leg/leg.ts'
import { noteProblem } from '../leg/note-problem.ts'
import { changeOwn, changeRunning } from '../leg/ready-recording.ts'
import type { Notes, Recording } from '../verb/abilities.ts'
import type { RecordingSpan } from '../verb/recording-request.ts'

export function createRecording(leg: Leg, notes: Notes): Recording {
  const { recording } = leg
  return {
    start: () => recording.start(),
    change: (action) => changeOwn(recording, action),
    changeRunning: (action) => changeRunning(leg, action),
    span: (wish) => spanOf(leg, wish, notes),
  }
}

function spanOf(leg: Leg, wish: RecordingWish | undefined, notes: Notes): RecordingSpan {
  const { recording } = leg
  let state: 'none' | 'wanted' | 'own' = 'none'
  const begin = async (): Promise<void> => {
    // A call that is always recorded is recorded a moment after its answer, and beyond this span.
    const isRunning = await recording.isRunning()
    if (state !== 'wanted') return
    if (isRunning) {
      if (wish !== undefined) notes.note(asItWas)
      return
    }
    state = 'own'
    await recording.start(wish)
  }
  return {
    begin() {
      state = 'wanted'
      begin().catch((error: unknown) => {
        state = 'none'
        noteProblem(leg, error)
      })
    },
    end() {
      if (state === 'own') recording.stop()
      state = 'none'
    },
  }
}

const asItWas = 'the call is being recorded already: its storage location does not change'
