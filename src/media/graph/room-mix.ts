// The mix of a room at each rate that is heard, and the same mix without the voice of a listener who is talking.
import type { Encoding, Rate } from '../codecs/codecs.ts'
import { frameSamplesAt, isLaw, type Coders, type Encoder } from '../codecs/coders.ts'
import type { Law } from '../codecs/g711.ts'
import type { Frame, Octets } from '../frames/frame.ts'
import { toSample } from '../../lib/audio/to-sample.ts'

/** A speaker who is heard in this tick. */
export interface Talking {
  readonly id: string
  readonly frame: Frame
  readonly onlyTo: readonly string[] | undefined
}

interface Sum {
  readonly samples: Int32Array
  isDone: boolean
}

/** The sums of the voices. Each is computed when its rate is first read. */
export class RoomSums {
  readonly #sums = new Map<Rate, Sum>()
  #frames: readonly Frame[] = []

  /** Sets the frames that all hear in this tick. */
  of(frames: readonly Frame[]): void {
    this.#frames = frames
    for (const sum of this.#sums.values()) sum.isDone = false
  }

  at(rate: Rate): Int32Array {
    const sum = this.#sums.get(rate) ?? { samples: new Int32Array(frameSamplesAt(rate)), isDone: false }
    this.#sums.set(rate, sum)
    if (!sum.isDone) this.#add(sum.samples, rate)
    sum.isDone = true
    return sum.samples
  }

  #add(into: Int32Array, rate: Rate): void {
    into.fill(0)
    for (const frame of this.#frames) {
      const samples = frame.samples(rate)
      for (let index = 0; index < into.length; index += 1)
        into[index] = (into[index] ?? 0) + (samples[index] ?? 0)
    }
  }
}

const none: readonly Talking[] = []

/** The mix for a listener who is talking, or to whom someone whispers. */
export class OwnFrame implements Frame {
  readonly rate = 8000
  readonly #sums: RoomSums
  readonly #samples = new Map<Rate, Int16Array>()
  #own: Talking | undefined
  #whispers = none

  constructor(sums: RoomSums) {
    this.#sums = sums
  }

  of(own: Talking | undefined, whispers: readonly Talking[]): this {
    this.#own = own
    this.#whispers = whispers
    return this
  }

  samples(rate: Rate = 8000): Int16Array {
    const mixed = this.#samples.get(rate) ?? new Int16Array(frameSamplesAt(rate))
    this.#samples.set(rate, mixed)
    const sum = this.#sums.at(rate)
    const own = this.#own?.frame.samples(rate)
    const whispers = this.#whispers.map(({ frame }) => frame.samples(rate))
    for (let index = 0; index < mixed.length; index += 1) {
      let sample = (sum[index] ?? 0) - (own?.[index] ?? 0)
      for (const samples of whispers) sample += samples[index] ?? 0
      mixed[index] = toSample(sample)
    }
    return mixed
  }

  octets(): undefined {
    return undefined
  }
}

interface Coded {
  readonly encoder: Encoder
  readonly bytes: Uint8Array
  length: number
}

interface Common {
  readonly samples: Int16Array
  isDone: boolean
}

/** One mix for many listeners, coded when the first of them needs it. */
export class CommonFrame implements Frame {
  readonly rate = 8000
  readonly #sums: RoomSums
  readonly #coders: Coders
  readonly #mixed = new Map<Rate, Common>()
  readonly #coded = new Map<Law, Coded>()

  constructor(sums: RoomSums, coders: Coders) {
    this.#sums = sums
    this.#coders = coders
  }

  /** Notes that the next frame has come. */
  renew(): void {
    for (const mixed of this.#mixed.values()) mixed.isDone = false
    for (const coded of this.#coded.values()) coded.length = 0
  }

  samples(rate: Rate = 8000): Int16Array {
    const mixed = this.#mixed.get(rate) ?? { samples: new Int16Array(frameSamplesAt(rate)), isDone: false }
    this.#mixed.set(rate, mixed)
    const { samples } = mixed
    if (mixed.isDone) return samples
    const sum = this.#sums.at(rate)
    for (let index = 0; index < samples.length; index += 1) samples[index] = toSample(sum[index] ?? 0)
    mixed.isDone = true
    return samples
  }

  /**
   * Returns octets for G.711 only. A codec with a state depends on what its own far end heard before, so each
   * listener codes for itself.
   */
  octets(encoding: Encoding): Octets | undefined {
    if (!isLaw(encoding)) return undefined
    const coded = this.#coded.get(encoding) ?? this.#codedIn(encoding)
    if (coded.length === 0) coded.length = coded.encoder.encode(this.samples(), coded.bytes, 0)
    return { bytes: coded.bytes, offset: 0, length: coded.length }
  }

  #codedIn(law: Law): Coded {
    const encoder = this.#coders.encoder(law)
    const coded = { encoder, bytes: new Uint8Array(encoder.maxOctets), length: 0 }
    this.#coded.set(law, coded)
    return coded
  }
}
