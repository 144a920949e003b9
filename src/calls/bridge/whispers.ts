// What is whispered to the two sides of a bridge: one at a time to each, and nothing once they have parted.
import type { NestedVerbs } from '../application/nested-verbs.ts'
import type { Leg } from '../leg/leg.ts'
import { stopped } from '../session/stop.ts'

const whispering: ReadonlySet<string> = new Set(['say', 'play', 'pause'])

export class Whispers {
  readonly #nested: Pick<NestedVerbs, 'beside'>
  readonly #onChange: (leg: Leg, isBusy: boolean) => void
  readonly #running = new Map<Leg, AbortController>()

  /** `onChange` is called when one begins or ends to be whispered to. */
  constructor(nested: Pick<NestedVerbs, 'beside'>, onChange: (leg: Leg, isBusy: boolean) => void) {
    this.#nested = nested
    this.#onChange = onChange
  }

  /** Returns what begins it, in place of what is whispered to this side already. Throws hook_invalid_payload. */
  whisper(leg: Leg, verbs: unknown): () => Promise<void> {
    const controller = new AbortController()
    const signal = AbortSignal.any([leg.signal, controller.signal])
    const start = this.#nested.beside({ leg, verbs, allowed: whispering, signal })
    return async () => {
      this.#running.get(leg)?.abort(stopped('replaced'))
      this.#running.set(leg, controller)
      this.#onChange(leg, true)
      try {
        await start()
      } finally {
        if (this.#running.get(leg) === controller) {
          this.#running.delete(leg)
          this.#onChange(leg, false)
        }
      }
    }
  }

  stop(): void {
    for (const controller of this.#running.values()) controller.abort(stopped('parted'))
  }
}
