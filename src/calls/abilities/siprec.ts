// The ability to let a recording server record the call.
import { toHeaderFields } from '../application/app-headers.ts'
import type { Leg } from '../leg/leg.ts'
import { SiprecRecorder, type SiprecNeeds } from '../siprec/siprec-recorder.ts'
import type { Notes, Siprec } from '../verb/abilities.ts'

export interface SiprecOptions {
  readonly leg: Leg
  readonly needs: SiprecNeeds
  readonly notes: Notes
}

export function createSiprec({ leg, needs, notes }: SiprecOptions): Siprec {
  return {
    start({ servers, recordingId, headers }) {
      const { fields, refused } = toHeaderFields(headers)
      if (refused.length > 0)
        notes.note(`these headers may not be set and were left out: ${refused.join(', ')}`)
      leg.siprecBy(() => new SiprecRecorder(leg, needs)).start({ servers, recordingId, headers: fields })
    },
    stop: () => leg.siprec?.stop(),
    pause: () => leg.siprec?.pause(),
    resume: () => leg.siprec?.resume(),
  }
}
