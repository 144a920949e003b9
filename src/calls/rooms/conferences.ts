// The conferences of this node, each in its account: two accounts with one name never meet.
import type { CallServices } from '../call-services.ts'
import { Conference } from './conference.ts'
import type { Guest } from './guest.ts'
import type { Stay } from './stay.ts'

export interface Entered {
  readonly conference: Conference
  readonly stay: Stay
}

export class Conferences {
  readonly #services: Pick<CallServices, 'clock' | 'node'>
  /** By account, then by name. */
  readonly #all = new Map<string, Map<string, Conference>>()
  #count = 0

  constructor(services: Pick<CallServices, 'clock' | 'node'>) {
    this.#services = services
  }

  /** Those of an account, in the order in which their first members came. */
  of(account_sid: string): readonly Conference[] {
    return [...(this.#all.get(account_sid)?.values() ?? [])]
  }

  /** Makes the conference where there is none of the name. Throws AppError conference_full. */
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
      services: this.#services,
      onOver: () => {
        if (own.get(name) === conference) own.delete(name)
        if (own.size === 0 && this.#all.get(account_sid) === own) this.#all.delete(account_sid)
      },
    })
    own.set(name, conference)
    return conference
  }
}
