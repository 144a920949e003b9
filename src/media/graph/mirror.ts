// A session of another worker, as seen in this one. It speaks here through a ring, and the sound of a room of this
// worker goes back to it through another ring.
import { AudioRing } from '../../lib/audio/audio-ring.ts'
import type { Frame, Speaker } from '../frames/frame.ts'
import { RingVoice } from './ring-voice.ts'
import type { MirrorWiring } from '../wiring.ts'

export class Mirror implements Speaker {
  readonly id: string
  readonly wiring: MirrorWiring
  readonly #voice: RingVoice | undefined
  readonly #listens: AudioRing | undefined

  /** Continues the rings that `before` has too. */
  constructor(id: string, wiring: MirrorWiring, before?: Mirror) {
    this.id = id
    this.wiring = wiring
    const { voice, listens } = wiring
    if (voice !== undefined)
      this.#voice = before?.wiring.voice?.id === voice.id ? before.#voice : new RingVoice(voice)
    if (listens !== undefined) this.#listens = new AudioRing(listens.ring.memory)
  }

  voice(tick: number): Frame | undefined {
    return this.#voice?.voice(tick)
  }

  tick(heard: (room: string) => Frame | undefined): void {
    const { listens } = this.wiring
    if (listens === undefined || this.#listens === undefined) return
    this.#listens.write(heard(listens.room)?.samples(this.#listens.isWholeWanted ? 16_000 : 8000))
  }
}
