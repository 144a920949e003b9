// The ability to send requests to the far end within the dialog.
import { toRequest } from '../application/app-requests.ts'
import type { Leg } from '../leg/leg.ts'
import type { Notes, Requests } from '../verb/abilities.ts'
import { whileWanted } from '../session/while-wanted.ts'

export function createRequests({ requests }: Pick<Leg, 'requests'>, notes: Notes): Requests {
  return {
    async send(asked, signal) {
      const { request, refused } = toRequest(asked)
      if (refused.length > 0)
        notes.note(`these headers may not be set and were left out: ${refused.join(', ')}`)
      return whileWanted(requests.send(request), signal)
    },
  }
}
