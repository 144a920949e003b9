// The whispers to the two sides of a bridge: one at a time to each side, and none once they have parted.
import type { NestedVerbs } from '../application/nested-verbs.ts'
import type { Leg } from '../leg/leg.ts'
import { stopped } from '../session/stop.ts'

const whispering: ReadonlySet<string> = new Set(['say', 'play', 'pause'])

export class Whispers {
  readonly #nested: Pick<NestedVerbs, 'beside'>
  readonly #onChange: (leg: Leg, isBusy: boolean) => void
  readonly #running = new Map<Leg, AbortController>()

  /** `onChange` is called when a whisper to a leg begins or ends. */
  constructor(nested: Pick<NestedVerbs, 'beside'>, onChange: (leg: Leg, isBusy: boolean) => void) {
    this.#nested = nested
    this.#onChange = onChange
  }

  /** Returns the function that begins a whisper. It replaces a running one. Throws hook_invalid_payload. */
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
