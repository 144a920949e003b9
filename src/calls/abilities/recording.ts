// The ability to record: what the far end says and hears.
import type { Leg } from '../leg/leg.ts'
import type { Recording } from './abilities.ts'

export function createRecording({ recording }: Pick<Leg, 'recording'>): Recording {
  return {
    start: () => recording.start(),
    stop() {
      recording.demand()
      recording.stop()
    },
    mask(isMasked) {
      recording.demand()
      recording.mask(isMasked)
    },
  }
}
