// The ability to record the audio that the far end sends and hears.
import type { RecordingWish } from '../../contracts/recording.ts'
import type { Leg } from '../leg/leg.ts'
import { noteProblem } from '../leg/note-problem.ts'
import { changeOwn, changeRunning } from '../leg/ready-recording.ts'
import type { Notes, Recording } from './abilities.ts'
import type { RecordingSpan } from './recording-request.ts'

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
  let isOwn = false
  return {
    begin() {
      if (recording.isWanted) {
        if (wish !== undefined) notes.note(asItWas)
        return
      }
      isOwn = true
      recording.start(wish).catch((error: unknown) => {
        isOwn = false
        noteProblem(leg, error)
      })
    },
    end() {
      if (isOwn) recording.stop()
      isOwn = false
    },
  }
}

const asItWas = 'the call is being recorded already: its storage location does not change'
