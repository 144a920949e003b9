// What is whispered to the two sides of a bridge: one at a time to each, and nothing once they have parted.
import type { NestedVerbs } from '../application/nested-verbs.ts'
import type { Leg } from '../leg/leg.ts'

export class Whispers {
  readonly #nested: Pick<NestedVerbs, 'whisper'>
  readonly #running = new Map<Leg, AbortController>()

  constructor(nested: Pick<NestedVerbs, 'whisper'>) {
    this.#nested = nested
  }

  /** In place of what is whispered to this side already. Throws hook_invalid_payload at once, and that one goes on. */
  whisper(leg: Leg, verbs: unknown): Promise<void> {
    const controller = new AbortController()
    const signal = AbortSignal.any([leg.signal, controller.signal])
    const heard = this.#nested.whisper({ leg, verbs, signal })
    this.#running.get(leg)?.abort()
    this.#running.set(leg, controller)
    return heard
  }

  stop(): void {
    for (const controller of this.#running.values()) controller.abort()
  }
}
