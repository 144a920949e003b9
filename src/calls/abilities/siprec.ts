// The ability to let a recording server record the call.
import { toHeaderFields } from '../application/app-headers.ts'
import type { CallContext } from '../call-context.ts'
import type { Leg } from '../leg/leg.ts'
import { SiprecRecorder } from '../siprec/siprec-recorder.ts'
import type { Notes, Siprec } from './abilities.ts'

export interface SiprecOptions {
  readonly leg: Leg
  readonly context: Pick<CallContext, 'services' | 'tap' | 'guard'>
  readonly notes: Notes
}

export function createSiprec({ leg, context, notes }: SiprecOptions): Siprec {
  return {
    start({ servers, recordingId, headers }) {
      const { fields, refused } = toHeaderFields(headers)
      if (refused.length > 0)
        notes.note(`these headers may not be set and were left out: ${refused.join(', ')}`)
      leg.siprec ??= new SiprecRecorder(leg, context)
      leg.siprec.start({ servers, recordingId, headers: fields })
    },
    stop: () => leg.siprec?.stop(),
    pause: () => leg.siprec?.pause(),
    resume: () => leg.siprec?.resume(),
  }
}
