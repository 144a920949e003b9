// What is heard in one tick: 20 ms as samples, and as octets where they are at hand and need not be coded.
import type { Encoding, Rate } from '../codecs/codecs.ts'
import { frameSamples, frameSamplesAt } from '../codecs/coders.ts'
import type { Laws } from '../codecs/g711.ts'
import { Doubler, Halver } from '../codecs/half-band.ts'
import type { PlayedFrame } from '../player.ts'

export interface Octets {
  readonly bytes: Uint8Array
  readonly offset: number
  readonly length: number
}

/** Valid until its source is asked for the next one. */
export interface Frame {
  /** Its own. */
  readonly rate: Rate
  /** At the rate of a telephone when none is given. Converted when it is first asked for at another rate than its own. */
  samples(rate?: Rate): Int16Array
  /** The frame as this codec has it, when nothing needs to be coded for it. */
  octets(encoding: Encoding): Octets | undefined
}

/** Something that speaks in the graph: a session, here or in another worker. */
export interface Speaker {
  readonly id: string
  /** What it says in this tick; undefined: nothing. The same each time that it is asked within one tick. */
  voice(tick: number, nowMs: number): Frame | undefined
}

/** The frames of one voice at its other rate: what comes before belongs to the sound of what follows. */
export class OtherRate {
  readonly #own: Rate
  #converter: Doubler | Halver | undefined
  #samples: Int16Array | undefined
  #isDone = false

  constructor(own: Rate) {
    this.#own = own
  }

  /** The next frame has come. */
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

/** Whose samples change from frame to frame forgets the other rate each time. */
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

  /** Its samples are those of the next frame. */
  renewed(): this {
    this.#other.forget()
    return this
  }

  octets(): undefined {
    return undefined
  }
}

/** A frame of a clip, used again for its next one; one clip may follow another of another form. */
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
