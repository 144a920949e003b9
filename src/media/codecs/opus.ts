// Opus (RFC 6716, RFC 7587) by libopus as WebAssembly: the one file that knows the library. One channel, at 8 or 16 kHz, since
// the codec decodes and codes any stream at any of its rates by itself.
import type { OpusDecoderHandle, OpusEncoderHandle } from 'libopus-wasm'
import type { Rate } from './codecs.ts'

type Library = typeof import('libopus-wasm')

/** What the far end wants of our stream: RFC 7587 §6.1. */
export interface OpusWishes {
  /** It makes use of what a packet says of the one before it. */
  readonly fec: boolean
  /** In bit/s. */
  readonly maxBitrate: number
  /** Packets of one size. */
  readonly isConstant: boolean
}

// A far end that loses nothing is sent what takes the fewest of our cycles, one that loses packets what takes the fewest of the
// line's bits, with the packet before in each: as good as each other, see docs/decisions/0091-opus-by-loss.md.
const bitrates = { lossless: 48_000, lossy: 28_000 } as const
const leastBitrate = 6000
const complexity = 1
// RFC 6716 §3.2.1: longer ones are no Opus packets.
const maxFrameMs = 120
/** The most octets of a packet that is sent. */
export const maxOpusOctets = 640

/** Of a far end that says nothing. */
export const usualWishes: OpusWishes = { fec: true, maxBitrate: bitrates.lossless, isConstant: false }

export class OpusLibrary {
  #library: Library | undefined

  get isLoaded(): boolean {
    return this.#library !== undefined
  }

  /** Once before the first of its coders is made. */
  async load(): Promise<void> {
    const library = await import('libopus-wasm')
    await library.loadLibopus()
    this.#library = library
  }

  decoder(rate: Rate): OpusDecoder {
    return new OpusDecoder(this.#loaded.createDecoder({ channels: 1, sampleRate: rate }), rate)
  }

  encoder(rate: Rate, wishes: OpusWishes): OpusEncoder {
    return new OpusEncoder(this.#loaded, rate, wishes)
  }

  get #loaded(): Library {
    if (this.#library === undefined) throw new Error('Opus is used before it was loaded')
    return this.#library
  }
}

/** The library makes its states in promises that are settled already: one turn later they are there. */
class State<Handle extends { free(): void }> {
  handle: Handle | undefined
  #isClosed = false

  constructor(made: Promise<Handle>) {
    this.become(made)
  }

  /** Until the new one is there, the former one stays. */
  become(made: Promise<Handle>): void {
    void made.then((handle) => {
      if (this.#isClosed) return handle.free()
      this.handle?.free()
      this.handle = handle
    })
  }

  /** Its memory is the library's, which no one else collects. */
  close(): void {
    this.#isClosed = true
    this.handle?.free()
    this.handle = undefined
  }
}

export class OpusDecoder {
  readonly #state: State<OpusDecoderHandle>
  readonly #rate: Rate

  constructor(made: Promise<OpusDecoderHandle>, rate: Rate) {
    this.#state = new State(made)
    this.#rate = rate
  }

  /** A packet that is none sounds like one that was lost. */
  decode(payload: Uint8Array, into: Int16Array, at: number): void {
    const count = (opusSamples(payload) * this.#rate) / 8000
    try {
      this.#write(this.#state.handle?.decode(payload), into, at, count)
    } catch {
      this.conceal(into, at, count, undefined)
    }
  }

  /**
   * Makes up samples for a gap; `next` is the packet after it, where it is there: it says what the end of the gap was like.
   * False when the codec cannot do so for this number of them.
   */
  conceal(into: Int16Array, at: number, count: number, next: Uint8Array | undefined): boolean {
    const { handle } = this.#state
    // In steps of 2.5 ms.
    if (handle === undefined || count % (this.#rate / 400) !== 0) return false
    try {
      const made =
        next === undefined
          ? handle.decodePacketLoss(count)
          : handle.decode(next, { decodeFec: true, maxFrameSize: count })
      this.#write(made, into, at, count)
      return true
    } catch {
      return false
    }
  }

  close(): void {
    this.#state.close()
  }

  #write(samples: Int16Array | undefined, into: Int16Array, at: number, count: number): void {
    for (let index = 0; index < count; index += 1) into[at + index] = samples?.[index] ?? 0
  }
}

export class OpusEncoder {
  readonly #library: Library
  readonly #rate: Rate
  readonly #wishes: OpusWishes
  readonly #state: State<OpusEncoderHandle>
  #lossPercent = 0
  /** It has coded nothing yet. */
  #isFresh = true

  constructor(library: Library, rate: Rate, wishes: OpusWishes) {
    this.#library = library
    this.#rate = rate
    this.#wishes = wishes
    this.#state = new State(this.#create())
  }

  /** Writes the octets of one frame from `at` on, and returns their number. */
  encode(frame: Int16Array, into: Uint8Array, at: number): number {
    const { handle } = this.#state
    const octets = handle?.encode(frame, { maxPacketBytes: maxOpusOctets })
    if (octets === undefined) return 0
    if (this.#isFresh) handle?.encoderCtl(this.#library.EncoderCtl.SetPredictionDisabled, 0)
    this.#isFresh = false
    into.set(octets, at)
    return octets.length
  }

  /** The far end has heard another coder's packets: what this one expects of its decoder does not hold any more. */
  follow(): void {
    if (this.#isFresh) return
    this.#isFresh = true
    this.#state.become(this.#create())
  }

  /** How much the far end loses: where it loses any, the packet before goes with each, and all of it in fewer bits. */
  expectLoss(percent: number): void {
    this.#lossPercent = percent
    const { handle } = this.#state
    if (handle !== undefined) this.#adapt(handle)
  }

  close(): void {
    this.#state.close()
  }

  async #create(): Promise<OpusEncoderHandle> {
    const { Application, Bandwidth, EncoderCtl, createEncoder } = this.#library
    const handle = await createEncoder({
      channels: 1,
      sampleRate: this.#rate,
      frameSize: this.#rate / 50,
      application: Application.Voip,
      maxBandwidth: this.#rate === 8000 ? Bandwidth.Narrowband : Bandwidth.Wideband,
      complexity,
      fec: this.#wishes.fec,
      vbr: !this.#wishes.isConstant,
    })
    // The first packet means the same to a decoder that has just heard another stream: else it may be a bang.
    handle.encoderCtl(EncoderCtl.SetPredictionDisabled, 1)
    this.#adapt(handle)
    return handle
  }

  /** With these bits the library takes CELT for what is said to be music, and SILK for a voice: RFC 6716 §2. */
  #adapt(handle: OpusEncoderHandle): void {
    const { Signal } = this.#library
    const { maxBitrate } = this.#wishes
    const isLossless = this.#lossPercent === 0 && maxBitrate >= bitrates.lossless
    const bitrate = isLossless ? bitrates.lossless : Math.min(bitrates.lossy, maxBitrate)
    handle.setSignal(isLossless ? Signal.Music : Signal.Voice)
    handle.setBitrate(Math.max(leastBitrate, bitrate))
    handle.setPacketLossPercent(this.#lossPercent)
  }
}

// RFC 6716 §3.1, table 2: the length of a frame by the configuration in the first five bits, in 1/8000 s.
const silkSamples = [80, 160, 320, 480]
const hybridSamples = [80, 160]
const celtSamples = [20, 40, 80, 160]

/** How much time a packet stands for, in 1/8000 s; 0 for what is no Opus packet. */
export function opusSamples(payload: Uint8Array): number {
  const [first, second] = payload
  if (first === undefined) return 0
  const kind = first >> 3
  const frame =
    kind < 12 ? silkSamples[kind & 3] : kind < 16 ? hybridSamples[kind & 1] : celtSamples[kind & 3]
  // §3.2: one frame, two, or as many as the second octet says.
  const code = first & 3
  const frames = code === 0 ? 1 : code < 3 ? 2 : (second ?? 0) & 0x3f
  const samples = (frame ?? 0) * frames
  return samples > maxFrameMs * 8 ? 0 : samples
}
