// The streams of one leg, by name. Each goes to one audio server. Commands apply to all of them.
import type { Whisper } from './leg-options.ts'
import type { StreamEnd, StreamMode } from '../../contracts/audio-stream.ts'

export type StreamName = 'listen' | 'background' | 'dial' | 'conference'

export interface RunningStream {
  setMode(mode: StreamMode): void
  /** Idempotent. */
  close(): void
  /** Never rejects. */
  readonly ended: Promise<StreamEnd>
}

export class LegStreams {
  readonly #running = new Map<StreamName, RunningStream>()
  /** Whispers to the far end. Undefined while no verb listen runs. */
  whisper: Whisper | undefined

  get isOpen(): boolean {
    return this.#running.size > 0
  }

  /** Adds a stream, and closes an earlier one of this name. */
  add(name: StreamName, stream: RunningStream): void {
    this.close(name)
    this.#running.set(name, stream)
    void stream.ended.then(() => {
      if (this.#running.get(name) === stream) this.#running.delete(name)
    })
  }

  setMode(mode: StreamMode): void {
    for (const stream of this.#running.values()) stream.setMode(mode)
  }

  close(name: StreamName): void {
    this.#running.get(name)?.close()
  }
}
