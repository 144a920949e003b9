// The conferences of this node, kept per account: calls of two accounts never meet, even under the same name.
import { Conference, type ConferenceNeeds } from './conference.ts'
import type { Guest } from './guest.ts'
import type { Stay } from './stay.ts'

export interface Entered {
  readonly conference: Conference
  readonly stay: Stay
}

export class Conferences {
  readonly #needs: ConferenceNeeds
  /** By account, then by name. */
  readonly #all = new Map<string, Map<string, Conference>>()
  #count = 0

  constructor(needs: ConferenceNeeds) {
    this.#needs = needs
  }

  /** Returns the conferences of an account, in the order in which their first members entered. */
  of(account_sid: string): readonly Conference[] {
    return [...(this.#all.get(account_sid)?.values() ?? [])]
  }

  /** Makes the conference if there is none. Throws AppError conference_full. */
  enter(guest: Guest): Entered {
    const { account_sid } = guest.leg.journal.facts.started
    const { name } = guest.wishes
    const conference = this.#all.get(account_sid)?.get(name) ?? this.#create(account_sid, name)
    return { conference, stay: conference.enter(guest) }
  }

  #create(account_sid: string, name: string): Conference {
    this.#count += 1
    const own = this.#all.get(account_sid) ?? new Map<string, Conference>()
    this.#all.set(account_sid, own)
    const conference = new Conference({
      account_sid,
      name,
      mediaRoom: `conf:${account_sid}:${this.#count}`,
      needs: this.#needs,
      onOver: () => {
        if (own.get(name) === conference) own.delete(name)
        if (own.size === 0 && this.#all.get(account_sid) === own) this.#all.delete(account_sid)
      },
    })
    own.set(name, conference)
    return conference
  }
}
