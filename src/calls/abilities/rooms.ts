// The ability to be in a conference with other calls.
import type { Application } from '../application/application.ts'
import type { NestedVerbs } from '../application/nested-verbs.ts'
import { partyOf, whyGone } from '../leg/leg-story.ts'
import type { Leg } from '../leg/leg.ts'
import type { Stop } from '../session/stop.ts'
import type { Rooms } from '../verb/abilities.ts'
import type { AbilityNeeds } from './needs.ts'

export interface RoomsOptions {
  readonly leg: Leg
  readonly application: Application
  readonly nested: NestedVerbs
  readonly needs: Pick<AbilityNeeds, 'conferences'>
}

export function createRooms({ leg, application, nested, needs }: RoomsOptions): Rooms {
  return {
    async confer({ signal, recording, ...wishes }) {
      const guest = { leg, application, nested, wishes, recording }
      const { conference, stay } = needs.conferences.enter(guest)
      const leave = (): void => conference.leave(stay, whyLeft(leg, signal))
      const unwatch = leg.events.watch((event) => {
        if (event === 'talks' || event === 'silent') conference.talk(stay, event === 'talks')
      })
      signal.addEventListener('abort', leave, { once: true })
      if (signal.aborted) leave()
      await stay.gone
      signal.removeEventListener('abort', leave)
      unwatch()
    },
  }
}

function whyLeft(leg: Leg, { reason }: AbortSignal): string {
  if (leg.hasEnded) return whyGone(leg, partyOf(leg))
  return `other verbs took over: ${(reason as Stop).message}`
}
