// The seconds of packets that all calls of a node together send to one address that only an SDP has named: callers that
// begin one call after another would each aim another second at it.
import type { Clock } from '../../lib/clock.ts'

const perMs = 60_000
/** The calls in that time that begin at full rate. A far end that sends one packet is not counted any more. */
const maxSeconds = 10
// About 1 MB. The oldest address is forgotten first: it takes as many calls to other addresses to push one out.
const maxAddresses = 10_000

export class UnheardAddresses {
  readonly #clock: Pick<Clock, 'monotonic'>
  readonly #taken = new Map<string, { seconds: number; readonly untilMs: number }>()

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock
  }

  /** Takes a second of packets to an address that nothing has come from. Returns false if the calls have used them up. */
  take(address: string): boolean {
    const nowMs = this.#clock.monotonic()
    const known = this.#taken.get(address)
    if (known !== undefined && nowMs < known.untilMs) {
      if (known.seconds >= maxSeconds) return false
      known.seconds += 1
      return true
    }
    this.#taken.delete(address)
    if (this.#taken.size >= maxAddresses) {
      const [oldest = ''] = this.#taken.keys()
      this.#taken.delete(oldest)
    }
    this.#taken.set(address, { seconds: 1, untilMs: nowMs + perMs })
    return true
  }

  /** A packet has come from the address. */
  heard(address: string): void {
    this.#taken.delete(address)
  }
}
