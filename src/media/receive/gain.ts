// The gain of a voice for its listeners. A change is spread over one frame, so that it does not click.
import type { Mixer } from '../frames/mixer.ts'

export class Gain {
  /** Whether the gain is 1 and stays so. Needed for each packet. */
  isPlain = true
  /** Whether it was muted throughout the last frame. */
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

  /** Completes a change made before `beforeMs`, which a new listener must not hear. */
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
