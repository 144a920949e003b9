// A room: all who speak in it are heard by all who listen, each without its own voice. Added up once in a tick; those who
// have said nothing share one mix, which is coded once for each codec.
import type { Encoding } from '../codecs/codecs.ts'
import { frameSamples } from '../codecs/coders.ts'
import type { Coder, Coders } from '../codecs/coders.ts'
import { SampleFrame } from './frame.ts'
import type { Frame, Octets, Speaker } from './frame.ts'
import { toSample } from './mixer.ts'
import type { SpeaksIn } from './wiring.ts'

// About 50 dB under the loudest: a line that is open, and no voice.
const quietestVoice = 100
// Voices have pauses, which are not heard as such when the gate stays open for 300 ms.
const pauseTicks = 15

interface Seat {
  readonly onlyTo: readonly string[] | undefined
  voicedTick: number
}

interface Talking {
  readonly id: string
  readonly samples: Int16Array
  readonly onlyTo: readonly string[] | undefined
}

export class Room {
  readonly #speakerOf: (id: string) => Speaker | undefined
  readonly #seats = new Map<string, Seat>()
  readonly #sum = new Int32Array(frameSamples)
  readonly #common: SharedFrame
  readonly #own = new Int16Array(frameSamples)
  readonly #ownFrame = new SampleFrame(this.#own)
  #talking: Talking[] = []
  #tick = -1

  constructor(coders: Coders, speakerOf: (id: string) => Speaker | undefined) {
    this.#speakerOf = speakerOf
    this.#common = new SharedFrame(coders)
  }

  get isEmpty(): boolean {
    return this.#seats.size === 0
  }

  enter(id: string, { onlyTo }: SpeaksIn): void {
    this.#seats.set(id, { onlyTo, voicedTick: this.#seats.get(id)?.voicedTick ?? -Infinity })
  }

  leave(id: string): void {
    this.#seats.delete(id)
  }

  /** What this one hears in this tick; undefined: silence. Valid until the next one asks. */
  frame(listener: string, tick: number, nowMs: number): Frame | undefined {
    if (tick !== this.#tick) this.#listen(tick, nowMs)
    const own = this.#talking.find(({ id, onlyTo }) => id === listener && onlyTo === undefined)
    const whispers = this.#talking.filter(
      ({ id, onlyTo }) => id !== listener && onlyTo?.includes(listener) === true,
    )
    const others =
      this.#talking.filter(({ onlyTo }) => onlyTo === undefined).length - (own === undefined ? 0 : 1)
    if (others + whispers.length === 0) return undefined
    if (own === undefined && whispers.length === 0) return this.#common
    for (let index = 0; index < frameSamples; index += 1) {
      let sample = (this.#sum[index] ?? 0) - (own?.samples[index] ?? 0)
      for (const { samples } of whispers) sample += samples[index] ?? 0
      this.#own[index] = toSample(sample)
    }
    return this.#ownFrame
  }

  #listen(tick: number, nowMs: number): void {
    this.#tick = tick
    this.#talking = []
    this.#sum.fill(0)
    for (const [id, seat] of this.#seats) {
      const samples = this.#speakerOf(id)?.voice(tick, nowMs)?.samples()
      if (samples === undefined) continue
      if (isVoice(samples)) seat.voicedTick = tick
      if (tick - seat.voicedTick > pauseTicks) continue
      const { onlyTo } = seat
      this.#talking.push({ id, samples, onlyTo })
      if (onlyTo === undefined)
        for (let index = 0; index < frameSamples; index += 1)
          this.#sum[index] = (this.#sum[index] ?? 0) + (samples[index] ?? 0)
    }
    this.#common.of(this.#sum)
  }
}

function isVoice(samples: Int16Array): boolean {
  let sum = 0
  for (const sample of samples) sum += sample < 0 ? -sample : sample
  return sum > quietestVoice * frameSamples
}

/** One mix for many, coded when the first of them asks. */
class SharedFrame implements Frame {
  readonly #coders: Coders
  readonly #samples = new Int16Array(frameSamples)
  readonly #coded = new Map<Encoding, { readonly coder: Coder; readonly bytes: Uint8Array; length: number }>()

  constructor(coders: Coders) {
    this.#coders = coders
  }

  of(sum: Int32Array): void {
    for (let index = 0; index < frameSamples; index += 1) this.#samples[index] = toSample(sum[index] ?? 0)
    for (const coded of this.#coded.values()) coded.length = 0
  }

  samples(): Int16Array {
    return this.#samples
  }

  octets(encoding: Encoding): Octets {
    let coded = this.#coded.get(encoding)
    if (coded === undefined) {
      const coder = this.#coders[encoding]()
      coded = { coder, bytes: new Uint8Array(coder.maxOctets), length: 0 }
      this.#coded.set(encoding, coded)
    }
    if (coded.length === 0) coded.length = coded.coder.encode(this.#samples, coded.bytes, 0)
    return { bytes: coded.bytes, offset: 0, length: coded.length }
  }
}
