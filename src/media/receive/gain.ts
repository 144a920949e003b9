// How loud a voice is heard by the others: a change takes one frame, so that it is no click.
import type { Mixer } from '../graph/mixer.ts'

export class Gain {
  /** As loud as it is. Looked at for each packet. */
  isPlain = true
  /** Throughout the last frame. */
  wasMuted = false
  #now = 1
  #next = 1
  #setMs = 0

  set(gain: number, nowMs: number): void {
    if (gain === this.#next) return
    this.#next = gain
    this.#setMs = nowMs
    this.#note()
  }

  /** A change that is older than that was none for one who begins to listen. */
  settle(beforeMs: number): void {
    if (this.#setMs < beforeMs) this.#now = this.#next
    this.#note()
  }

  apply(samples: Int16Array, mixer: Mixer): void {
    const [now, next] = [this.#now, this.#next]
    this.wasMuted = now === 0 && next === 0
    if (this.isPlain || this.wasMuted) return
    mixer.begin()
    mixer.add(samples, now, next)
    samples.set(mixer.end())
    this.#now = next
    this.#note()
  }

  #note(): void {
    this.isPlain = this.#now === 1 && this.#next === 1
  }
}
