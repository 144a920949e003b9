// The audio that a stream sends to its server: read from the ring frame by frame, and encoded for the wire.
import { AudioRing } from '../lib/audio/audio-ring.ts'
import { telephoneRate, type ResamplerTables } from '../lib/audio/resampler.ts'
import type { StreamOrder } from '../contracts/audio-stream.ts'
import { callRateOf, WireCoder, type CallRate } from './pcm.ts'

export class Given {
  readonly #ring: AudioRing
  readonly #coder: WireCoder
  readonly #most: CallRate
  readonly #whole: Int16Array
  readonly #half: Int16Array
  /** The last frame that was not silence: its samples, and its rate. */
  #frame: Int16Array
  #rate: CallRate

  constructor(
    { given, rate, channels }: Pick<StreamOrder, 'given' | 'rate' | 'channels'>,
    tables: ResamplerTables,
  ) {
    this.#ring = new AudioRing(given.memory)
    this.#coder = new WireCoder(rate, channels, tables)
    const { frameSamples } = this.#ring
    this.#most = callRateOf(frameSamples / channels)
    this.#whole = new Int16Array(frameSamples)
    this.#half = this.#whole.subarray(0, frameSamples / 2)
    this.#frame = this.#most === telephoneRate ? this.#whole : this.#half
    this.#rate = telephoneRate
  }

  /** The frames for which the ring had no room. */
  get lost(): number {
    return this.#ring.lost
  }

  /** Reads the next frame. Returns false if there is none. */
  take(): boolean {
    const found = this.#ring.read(this.#whole)
    if (found === 'sound') {
      this.#frame = this.#whole
      this.#rate = this.#most
    } else if (found === 'half') {
      this.#frame = this.#half
      this.#rate = telephoneRate
    }
    return found !== undefined
  }

  /** Returns the frame that was read, or the same length of silence. */
  octets(isSilent: boolean): Uint8Array {
    if (isSilent) this.#frame.fill(0)
    return this.#coder.encode(this.#frame, this.#rate)
  }
}
