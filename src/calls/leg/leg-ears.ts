// The transcriptions of one leg, by name. Commands apply to all of them.
import type { StreamMode } from '../../contracts/audio-stream.ts'

/** `background`: runs until it is switched off; `dial`, `dial-called`: the two sides of a talk. */
export type EarName = 'transcribe' | 'background' | 'dial' | 'dial-called'

export interface RunningEar {
  setMode(mode: StreamMode): void
  /** Idempotent. */
  close(): void
  /** Never rejects. */
  readonly ended: Promise<void>
}

export class LegEars {
  readonly #running = new Map<EarName, RunningEar>()

  get isOpen(): boolean {
    return this.#running.size > 0
  }

  /** Adds one, and closes an earlier one of this name. */
  add(name: EarName, ear: RunningEar): void {
    this.close(name)
    this.#running.set(name, ear)
    void ear.ended.then(() => {
      if (this.#running.get(name) === ear) this.#running.delete(name)
    })
  }

  setMode(mode: StreamMode): void {
    for (const ear of this.#running.values()) ear.setMode(mode)
  }

  close(name: EarName): void {
    this.#running.get(name)?.close()
  }
}
