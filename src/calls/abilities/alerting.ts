// The ability to alert a person, by the alerts of the account, and the phone of an unanswered caller.
import { toHeaderFields } from '../application/app-headers.ts'
import type { Leg } from '../leg/leg.ts'
import type { Alerting } from '../verb/abilities.ts'

export function createAlerting({
  journal,
  callerProgress,
}: Pick<Leg, 'journal' | 'callerProgress'>): Alerting {
  return {
    alert(message) {
      journal.note({ type: 'alerted', message })
      const { fields } = toHeaderFields({ 'Alert-Info': message })
      if (fields.length > 0) callerProgress.ring(fields)
      else
        journal.note({
          type: 'note',
          sentence: 'the message is not valid in Alert-Info, and was left out there',
        })
    },
  }
}
