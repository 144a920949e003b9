// How fast applications over WebSocket are read: each socket, and all sockets of an account together. Long messages weigh more.
import type { Clock } from '../../lib/clock.ts'
import { Pace } from '../../lib/pace.ts'

/** In units of a short message. A session of much talk sends some in a second. */
const socketPace = { burst: 200, perSecond: 100 }
/** What an account may cost the others, over however many calls. */
const accountPace = { burst: 2000, perSecond: 1000 }
/** What a message means takes as long to find out as it is long. */
const bytesOfUnit = 1024
/** Beyond, the account that was heard the longest time ago begins with a rest. */
const maxAccounts = 10_000

export class HeardPaces {
  readonly #clock: Clock
  /** In order of use, the latest last. */
  readonly #accounts = new Map<string, Pace>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** For one socket: counts a message, and returns how many ms nothing more may be read. */
  socketOf(account_sid: string): (message: { readonly length: number }) => number {
    const own = new Pace({ ...socketPace, clock: this.#clock })
    return ({ length }) => {
      const weight = 1 + Math.floor(length / bytesOfUnit)
      return Math.max(own.take(weight), this.#accountPace(account_sid).take(weight))
    }
  }

  #accountPace(account_sid: string): Pace {
    const pace = this.#accounts.get(account_sid) ?? new Pace({ ...accountPace, clock: this.#clock })
    this.#accounts.delete(account_sid)
    this.#accounts.set(account_sid, pace)
    const [oldest] = this.#accounts.keys()
    if (this.#accounts.size > maxAccounts && oldest !== undefined) this.#accounts.delete(oldest)
    return pace
  }
}
