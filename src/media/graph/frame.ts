// What is heard in one tick: 20 ms as samples, and as octets where they are at hand and need not be coded.
import type { Encoding } from '../codecs/codecs.ts'
import { frameSamples } from '../codecs/coders.ts'
import type { Laws } from '../codecs/g711.ts'
import type { PlayedFrame } from '../player.ts'

export interface Octets {
  readonly bytes: Uint8Array
  readonly offset: number
  readonly length: number
}

/** Valid until its source is asked for the next one. */
export interface Frame {
  samples(): Int16Array
  /** The frame as this codec has it, when nothing needs to be coded for it. */
  octets(encoding: Encoding): Octets | undefined
}

/** Something that speaks in the graph: a session, here or in another worker. */
export interface Speaker {
  readonly id: string
  /** What it says in this tick; undefined: nothing. The same each time that it is asked within one tick. */
  voice(tick: number, nowMs: number): Frame | undefined
}

export class SampleFrame implements Frame {
  readonly #samples: Int16Array

  constructor(samples: Int16Array) {
    this.#samples = samples
  }

  samples(): Int16Array {
    return this.#samples
  }

  octets(): undefined {
    return undefined
  }
}

/** A frame of a clip, used again for its next one. */
export class ClipFrame implements Frame {
  readonly #laws: Laws
  readonly #samples = new Int16Array(frameSamples)
  #played: PlayedFrame | undefined

  constructor(laws: Laws) {
    this.#laws = laws
  }

  of(played: PlayedFrame): this {
    this.#played = played
    return this
  }

  samples(): Int16Array {
    const { law, bytes, offset }: PlayedFrame = this.#played ?? nothingPlayed
    const { decode } = this.#laws[law]
    for (let index = 0; index < frameSamples; index += 1)
      this.#samples[index] = decode[bytes[offset + index] ?? 0] ?? 0
    return this.#samples
  }

  octets(encoding: Encoding): Octets | undefined {
    const played = this.#played
    if (played?.law !== encoding) return undefined
    return { bytes: played.bytes, offset: played.offset, length: frameSamples }
  }
}

const nothingPlayed: PlayedFrame = {
  law: 'PCMU',
  bytes: Buffer.alloc(frameSamples, 0xff),
  offset: 0,
}
