// The 3xx responses that one call follows (RFC 3261 §8.1.3.4): at most a few, and none twice.
import { AppError } from '../../lib/errors.ts'
import type { SipResponse } from '../../sip/message/message.ts'
import type { RedirectTarget } from '../../sip/sip.ts'
import { toDecision } from '../journal/decision.ts'
import type { JournalWriter } from '../journal/journal-writer.ts'
import type { Attempt, AttemptInvite, Round } from './attempt.ts'

const maxFollowed = 5

/** Multiple choices, moved permanently, moved temporarily. Not 305, which names a proxy, or 380, another service. */
const followed: ReadonlySet<number> = new Set([300, 301, 302])

export class Redirects {
  readonly #journal: Pick<JournalWriter, 'note'>
  readonly #seen = new Set<string>()

  constructor(journal: Pick<JournalWriter, 'note'>) {
    this.#journal = journal
  }

  /** Returns the places of one target, or none if it may not be followed. Never rejects with AppError. */
  async placesOf(attempt: Attempt, { status }: SipResponse, target: RedirectTarget): Promise<Round> {
    if (attempt.redirect === undefined || !followed.has(status)) return []
    const said = `${status} from ${attempt.place}: ${target.uri}`
    try {
      this.#demandNew(target.uri)
      const places = await reachable(await attempt.redirect(target))
      this.#journal.note(toDecision({ rule: 'redirect', outcome: said }))
      return places.map((place) => asIfCalledFirst(place, attempt))
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      const { code, message } = error
      this.#journal.note(
        toDecision({ rule: 'redirect', outcome: `${said} is not followed, ${message}`, code }),
      )
      return []
    }
  }

  #demandNew(uri: string): void {
    if (this.#seen.has(uri)) throw new AppError('loop_detected', 'the call has been sent there before')
    if (this.#seen.size === maxFollowed)
      throw new AppError('loop_detected', `a call follows ${maxFollowed} redirects at most`)
    this.#seen.add(uri)
  }
}

/** Returns the places that may be called and can be reached. If there are none, throws the error of the first. */
async function reachable(places: Round): Promise<Round> {
  const found = await Promise.allSettled(places.map(({ destination }) => destination()))
  const ready = places.flatMap((place, index) => {
    const remote = found[index]
    return remote?.status === 'fulfilled' ? [{ ...place, destination: async () => remote.value }] : []
  })
  const failure = found.find((one) => one.status === 'rejected')
  if (ready.length === 0 && failure !== undefined) throw failure.reason
  return ready
}

/** Keeps From and To (RFC 3261 §8.1.3.4), and the trunk in the record, as in the first attempt. */
function asIfCalledFirst(place: Attempt, { trunk, invite }: Attempt): Attempt {
  return {
    ...place,
    trunk,
    invite(host): AttemptInvite {
      const { from, to } = invite(host)
      return { ...place.invite(host), from, to }
    },
  }
}
