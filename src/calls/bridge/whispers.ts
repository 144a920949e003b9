// What is whispered to the two sides of a bridge: one at a time to each, and nothing once they have parted.
import type { NestedVerbs } from '../application/nested-verbs.ts'
import type { Leg } from '../leg/leg.ts'

const whispering: ReadonlySet<string> = new Set(['say', 'play', 'pause'])

export class Whispers {
  readonly #nested: Pick<NestedVerbs, 'beside'>
  readonly #running = new Map<Leg, AbortController>()

  constructor(nested: Pick<NestedVerbs, 'beside'>) {
    this.#nested = nested
  }

  /** Returns what begins it, in place of what is whispered to this side already. Throws hook_invalid_payload. */
  whisper(leg: Leg, verbs: unknown): () => Promise<void> {
    const controller = new AbortController()
    const signal = AbortSignal.any([leg.signal, controller.signal])
    const start = this.#nested.beside({ leg, verbs, allowed: whispering, signal })
    return () => {
      this.#running.get(leg)?.abort()
      this.#running.set(leg, controller)
      return start()
    }
  }

  stop(): void {
    for (const controller of this.#running.values()) controller.abort()
  }
}
