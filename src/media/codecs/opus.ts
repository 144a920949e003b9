// Opus (RFC 6716, RFC 7587) by libopus as WebAssembly: the one file that uses the library. One channel, at 8 or 16
// kHz, since the codec itself converts any stream to and from any of its rates.
import type { OpusDecoderHandle, OpusEncoderHandle } from 'libopus-wasm'
import type { Rate } from './codecs.ts'

type Library = typeof import('libopus-wasm')

/** The far end's parameters for our stream: RFC 7587 §6.1. */
export interface OpusWishes {
  /** Whether it uses the copy of the packet before that a packet may carry. */
  readonly fec: boolean
  /** The highest bitrate, in bit/s. */
  readonly maxBitrate: number
  /** Whether all packets have one size. */
  readonly isConstant: boolean
}

// A far end without loss is sent the coding that takes the fewest of our cycles. One that loses packets is sent the
// one with the fewest bits, with a copy of the packet before in each. Both sound equally good, see
// docs/decisions/0091-opus-by-loss.md.
const bitrates = { lossless: 48_000, lossy: 28_000 } as const
const leastBitrate = 6000
const complexity = 1
// RFC 6716 §3.2.1: a longer packet is not valid Opus.
const maxFrameMs = 120
/** The most octets of a packet that we send. */
export const maxOpusOctets = 640

/** The parameters of a far end that states none. */
export const usualWishes: OpusWishes = { fec: true, maxBitrate: bitrates.lossless, isConstant: false }

export class OpusLibrary {
  #library: Library | undefined

  get isLoaded(): boolean {
    return this.#library !== undefined
  }

  /** Loads the library. Required once before the first coder is created. */
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

/** A state of the library. It comes in a promise that is settled already, so it is available one turn later. */
class State<Handle extends { free(): void }> {
  handle: Handle | undefined
  #isClosed = false

  constructor(made: Promise<Handle>) {
    this.become(made)
  }

  /** Replaces the state. The former one is used until the new one is available. */
  become(made: Promise<Handle>): void {
    void made.then((handle) => {
      if (this.#isClosed) return handle.free()
      this.handle?.free()
      this.handle = handle
    })
  }

  /** Frees the memory of the library, which the garbage collector does not free. */
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

  /** Decodes a packet. An invalid one sounds like a lost one. */
  decode(payload: Uint8Array, into: Int16Array, at: number): void {
    const count = (opusSamples(payload) * this.#rate) / 8000
    try {
      this.#write(this.#state.handle?.decode(payload), into, at, count)
    } catch {
      this.conceal(into, at, count, undefined)
    }
  }

  /**
   * Makes up samples for a gap. `next` is the packet after it, if it is there; it describes the end of the gap.
   * Returns false if the codec cannot make up this number of samples.
   */
  conceal(into: Int16Array, at: number, count: number, next: Uint8Array | undefined): boolean {
    const { handle } = this.#state
    // Only multiples of 2.5 ms are possible.
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
  /** Whether it has encoded nothing yet. */
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

  /**
   * Notes that the far end got packets of another encoder, so that its decoder is no longer in the state this one
   * expects.
   */
  follow(): void {
    if (this.#isFresh) return
    this.#isFresh = true
    this.#state.become(this.#create())
  }

  /**
   * Sets the far end's loss. If it loses packets, each carries a copy of the packet before, and both together use
   * fewer bits.
   */
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
    // The first packet must not depend on the decoder's state: after another stream it might sound as a bang.
    handle.encoderCtl(EncoderCtl.SetPredictionDisabled, 1)
    this.#adapt(handle)
    return handle
  }

  /** At these bitrates the library uses CELT for a signal set as music and SILK for a voice: RFC 6716 §2. */
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

// RFC 6716 §3.1, table 2: the length of a frame in 1/8000 s, by the configuration in the first five bits.
const silkSamples = [80, 160, 320, 480]
const hybridSamples = [80, 160]
const celtSamples = [20, 40, 80, 160]

/** Returns the duration of a packet in 1/8000 s; 0 if it is not an Opus packet. */
export function opusSamples(payload: Uint8Array): number {
  const [first, second] = payload
  if (first === undefined) return 0
  const kind = first >> 3
  const frame =
    kind < 12 ? silkSamples[kind & 3] : kind < 16 ? hybridSamples[kind & 1] : celtSamples[kind & 3]
  // RFC 6716 §3.2: one frame, two, or the number in the second octet.
  const code = first & 3
  const frames = code === 0 ? 1 : code < 3 ? 2 : (second ?? 0) & 0x3f
  const samples = (frame ?? 0) * frames
  return samples > maxFrameMs * 8 ? 0 : samples
}
