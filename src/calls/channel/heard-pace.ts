// The rates at which applications over WebSocket are read: each socket, and all sockets of an account together. Long
// messages count more, and none is read while the account has used up its time of the main thread.
import type { Clock } from '../../lib/clock.ts'
import { Pace } from '../../lib/bounds/pace.ts'
import type { ThreadTime } from '../../lib/bounds/thread-time.ts'

/** In units of a short message. A busy session sends a few messages a second. */
const socketPace = { burst: 200, perSecond: 100 }
/** The most that an account may cost the others, over any number of calls. */
const accountPace = { burst: 2000, perSecond: 1000 }
/** The time to parse a message grows with its length. */
const bytesOfUnit = 1024
/** Beyond this number, the account that was read the longest time ago loses its state. */
const maxAccounts = 10_000

export class HeardPaces {
  readonly #clock: Clock
  /** The time that messages take when they are handled, which is charged to the account. */
  readonly threadTime: ThreadTime
  /** In order of use, the latest last. */
  readonly #accounts = new Map<string, Pace>()

  constructor({ clock, threadTime }: { readonly clock: Clock; readonly threadTime: ThreadTime }) {
    this.#clock = clock
    this.threadTime = threadTime
  }

  /** Returns a counter for one socket, which returns for how many ms no more may be read. */
  socketOf(account_sid: string): (message: { readonly length: number }) => number {
    const own = new Pace({ ...socketPace, clock: this.#clock })
    return ({ length }) => {
      const weight = 1 + Math.floor(length / bytesOfUnit)
      const paceMs = Math.max(own.take(weight), this.#accountPace(account_sid).take(weight))
      return Math.max(paceMs, this.threadTime.waitMs(account_sid))
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
