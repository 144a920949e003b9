// The decoders and encoders of the codecs, between octets and linear samples. A new codec adds its line here.
import { rateOf, type Encoding, type Rate } from './codecs.ts'
import { G722Decoder, G722Encoder, samplesPerOctet } from './g722.ts'
import type { Law, LawTables, Laws } from './g711.ts'
import { maxOpusOctets, OpusLibrary, opusSamples, usualWishes, type OpusWishes } from './opus.ts'

/** The samples of 20 ms at 8000 Hz. */
export const frameSamples = 160

export function frameSamplesAt(rate: Rate): number {
  return rate === 8000 ? frameSamples : 2 * frameSamples
}

/** One direction of one stream, which may keep a state between its packets. */
export interface Decoder {
  /** The rate of the samples that it writes. */
  readonly rate: Rate
  /** Returns the duration of a payload in 1/8000 s; 0 for one that cannot be heard. */
  timeOf(payload: Uint8Array): number
  /** Writes the samples from `at` on. */
  decode(payload: Uint8Array, into: Int16Array, at: number): void
  /**
   * Makes up `count` samples for a gap, better than is possible without the codec. `next` is the packet after the
   * gap, if it is there. Returns false if the codec cannot do it.
   */
  conceal?(into: Int16Array, at: number, count: number, next: Uint8Array | undefined): boolean
  close(): void
}

export interface Encoder {
  /** The rate of the samples that it encodes. */
  readonly rate: Rate
  /** Writes the octets of one frame from `at` on, and returns their number. */
  encode(frame: Int16Array, into: Uint8Array, at: number): number
  /** Sets the loss that the far end reports, in percent. */
  expectLoss?(percent: number): void
  /** Notes that the far end was sent this packet of another encoder; the next frame continues from there. */
  follow?(payload: Uint8Array): void
  /** The most octets that a frame has. */
  readonly maxOctets: number
  /** The octets of a frame of silence, if they do not depend on the frames before. */
  readonly silence: Buffer | undefined
  /** Whether the octets of one frame of silence may be repeated after many such frames. */
  readonly repeatsSilence?: boolean
  close(): void
}

/** The parameters of the far end for our encoder. */
export type Wishes = OpusWishes

const noState = (): void => undefined

function g711Decoder({ decode }: LawTables): Decoder {
  return {
    rate: 8000,
    timeOf: (payload) => payload.length,
    decode: (payload, into, at) => {
      const { length } = payload
      for (let index = 0; index < length; index += 1) into[at + index] = decode[payload[index] ?? 0] ?? 0
    },
    close: noState,
  }
}

function g711Encoder({ encode, silence }: LawTables): Encoder {
  return {
    rate: 8000,
    encode: (frame, into, at) => {
      for (let index = 0; index < frame.length; index += 1)
        into[at + index] = encode[(frame[index] ?? 0) & 0xffff] ?? silence
      return frame.length
    },
    maxOctets: frameSamples,
    silence: Buffer.alloc(frameSamples, silence),
    close: noState,
  }
}

function g722Decoder(rate: Rate): Decoder {
  const decoder = new G722Decoder()
  return {
    rate,
    timeOf: (payload) => payload.length,
    decode: (payload, into, at) => {
      if (rate === 8000) decoder.decodeNarrow(payload, into, at)
      else decoder.decode(payload, into, at)
    },
    close: noState,
  }
}

function g722Encoder(): Encoder {
  const encoder = new G722Encoder()
  return {
    rate: 16_000,
    encode: (frame, into, at) => encoder.encode(frame, into, at),
    follow: (payload) => encoder.follow(payload),
    maxOctets: frameSamplesAt(16_000) / samplesPerOctet,
    silence: undefined,
    close: noState,
  }
}

function opusDecoder(library: OpusLibrary, rate: Rate): Decoder {
  const decoder = library.decoder(rate)
  return {
    rate,
    timeOf: opusSamples,
    decode: (payload, into, at) => decoder.decode(payload, into, at),
    conceal: (into, at, count, next) => decoder.conceal(into, at, count, next),
    close: () => decoder.close(),
  }
}

function opusEncoder(library: OpusLibrary, wishes: Wishes): Encoder {
  const encoder = library.encoder(16_000, wishes)
  return {
    rate: 16_000,
    encode: (frame, into, at) => encoder.encode(frame, into, at),
    expectLoss: (percent) => encoder.expectLoss(percent),
    follow: () => encoder.follow(),
    maxOctets: maxOpusOctets,
    silence: undefined,
    repeatsSilence: true,
    close: () => encoder.close(),
  }
}

/** The coders of one worker. */
export interface Coders {
  /** Returns whether all of these codecs can be used now. */
  hasAll(encodings: readonly Encoding[]): boolean
  /** Loads these codecs, before their first use. */
  prepare(encodings: readonly Encoding[]): Promise<void>
  /** `rate` is that of the codec if left out; a narrow one costs less. */
  decoder(encoding: Encoding, rate?: Rate): Decoder
  encoder(encoding: Encoding, wishes?: Wishes): Encoder
}

export function createCoders(laws: Laws): Coders {
  // These coders have no state, so there is one of each per law.
  const of = (law: Law) => ({ decoder: g711Decoder(laws[law]), encoder: g711Encoder(laws[law]) })
  const g711 = { PCMU: of('PCMU'), PCMA: of('PCMA') }
  const opus = new OpusLibrary()
  let opusReady: Promise<void> | undefined
  return {
    hasAll: (encodings) => opus.isLoaded || !encodings.includes('OPUS'),
    async prepare(encodings) {
      if (encodings.includes('OPUS')) await (opusReady ??= opus.load())
    },
    decoder(encoding, rate = rateOf(encoding)) {
      if (isLaw(encoding)) return g711[encoding].decoder
      return encoding === 'G722' ? g722Decoder(rate) : opusDecoder(opus, rate)
    },
    encoder(encoding, wishes = usualWishes) {
      if (isLaw(encoding)) return g711[encoding].encoder
      return encoding === 'G722' ? g722Encoder() : opusEncoder(opus, wishes)
    },
  }
}

/** Returns whether a frame has the same octets after any other; only then can streams share them. */
export function isLaw(encoding: Encoding): encoding is Law {
  return encoding === 'PCMU' || encoding === 'PCMA'
}
