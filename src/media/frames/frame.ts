// The sound of one tick: 20 ms as samples, and as octets if the codec's octets are available without coding.
import type { Encoding, Rate } from '../codecs/codecs.ts'
import { frameSamples, frameSamplesAt } from '../codecs/coders.ts'
import type { Law, Laws } from '../codecs/g711.ts'
import { Doubler, Halver } from '../codecs/half-band.ts'

/** The coded audio of one tick: the bytes from `offset` on. */
export interface PlayedFrame {
  readonly form: Law | 'wide'
  readonly bytes: Buffer
  readonly offset: number
}

export interface Octets {
  readonly bytes: Uint8Array
  readonly offset: number
  readonly length: number
}

/** Valid until its source returns the next one. */
export interface Frame {
  /** Its native rate. */
  readonly rate: Rate
  /**
   * Returns the samples at the rate, 8000 if left out. Converted on the first request for a rate other than its own.
   */
  samples(rate?: Rate): Int16Array
  /** Returns the octets in this codec if they are available without coding. */
  octets(encoding: Encoding): Octets | undefined
}

/** A source of speech in the graph: a session of this worker or of another one. */
export interface Speaker {
  readonly id: string
  /** Returns its frame of this tick; undefined for silence. The same frame each time within one tick. */
  voice(tick: number, nowMs: number): Frame | undefined
}

/**
 * The frames of one voice at its other rate. The filter has a memory, so every frame goes through the same converter.
 */
export class OtherRate {
  readonly #own: Rate
  #converter: Doubler | Halver | undefined
  #samples: Int16Array | undefined
  #isDone = false

  constructor(own: Rate) {
    this.#own = own
  }

  /** Notes that the next frame has come. */
  forget(): void {
    this.#isDone = false
  }

  of(samples: Int16Array): Int16Array {
    this.#samples ??= new Int16Array(frameSamplesAt(this.#own === 8000 ? 16_000 : 8000))
    this.#converter ??= this.#own === 8000 ? new Doubler(frameSamples) : new Halver(frameSamples)
    if (!this.#isDone) this.#converter.convert(samples, this.#samples)
    this.#isDone = true
    return this.#samples
  }
}

/** A frame of samples. An owner that changes the samples calls `renewed`, which discards those at the other rate. */
export class SampleFrame implements Frame {
  readonly rate: Rate
  readonly #samples: Int16Array
  readonly #other: OtherRate

  constructor(samples: Int16Array, rate: Rate = 8000, other = new OtherRate(rate)) {
    this.#samples = samples
    this.rate = rate
    this.#other = other
  }

  samples(rate: Rate = 8000): Int16Array {
    return rate === this.rate ? this.#samples : this.#other.of(this.#samples)
  }

  /** Marks the samples as those of the next frame. */
  renewed(): this {
    this.#other.forget()
    return this
  }

  octets(): undefined {
    return undefined
  }
}

/** The frame of a clip, reused for its next one. A clip may be followed by one of another form. */
export class ClipFrame implements Frame {
  readonly #laws: Laws
  readonly #narrow = new Int16Array(frameSamples)
  readonly #doubled = new OtherRate(8000)
  #wide: Int16Array | undefined
  readonly #halved = new OtherRate(16_000)
  #played: PlayedFrame = nothingPlayed

  constructor(laws: Laws) {
    this.#laws = laws
  }

  of(played: PlayedFrame): this {
    this.#played = played
    this.#doubled.forget()
    this.#halved.forget()
    return this
  }

  get rate(): Rate {
    return this.#played.form === 'wide' ? 16_000 : 8000
  }

  samples(rate: Rate = 8000): Int16Array {
    const { form, bytes, offset } = this.#played
    if (form === 'wide') {
      const samples = this.#read(bytes, offset)
      return rate === 16_000 ? samples : this.#halved.of(samples)
    }
    const samples = this.#decode(this.#laws[form].decode, bytes, offset)
    return rate === 8000 ? samples : this.#doubled.of(samples)
  }

  #decode(decode: Int16Array, bytes: Uint8Array, offset: number): Int16Array {
    for (let index = 0; index < frameSamples; index += 1)
      this.#narrow[index] = decode[bytes[offset + index] ?? 0] ?? 0
    return this.#narrow
  }

  #read(bytes: Buffer, offset: number): Int16Array {
    this.#wide ??= new Int16Array(frameSamplesAt(16_000))
    for (let index = 0; index < this.#wide.length; index += 1)
      this.#wide[index] = bytes.readInt16LE(offset + 2 * index)
    return this.#wide
  }

  octets(encoding: Encoding): Octets | undefined {
    const { form, bytes, offset } = this.#played
    return form === encoding ? { bytes, offset, length: frameSamples } : undefined
  }
}

const nothingPlayed: PlayedFrame = {
  form: 'PCMU',
  bytes: Buffer.alloc(frameSamples, 0xff),
  offset: 0,
}
