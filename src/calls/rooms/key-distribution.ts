// Keys of members that are also sent to all other members. A flood of keys from one phone is not multiplied by the
// room.
import type { Clock } from '../../lib/clock.ts'
import type { Stay } from './stay.ts'

/** More keys than a person presses. */
const maxPerSecond = 10

export class KeyDistribution {
  readonly #clock: Clock
  readonly #stays: () => Iterable<Stay>
  readonly #stops = new Map<Stay, () => void>()

  constructor(clock: Clock, stays: () => Iterable<Stay>) {
    this.#clock = clock
    this.#stays = stays
  }

  follow(stay: Stay): void {
    const { wishes, leg } = stay.guest
    if (!wishes.distributesKeys) return
    let sinceMs = -Infinity
    let pressed = 0
    const stop = leg.onDigit((digit, { durationMs }) => {
      const nowMs = this.#clock.monotonic()
      if (nowMs - sinceMs >= 1000) {
        sinceMs = nowMs
        pressed = 0
      }
      pressed += 1
      if (pressed > maxPerSecond) return
      for (const other of this.#stays()) if (other !== stay) other.press(digit, durationMs)
    })
    this.#stops.set(stay, stop)
  }

  forget(stay: Stay): void {
    this.#stops.get(stay)?.()
    this.#stops.delete(stay)
  }
}
