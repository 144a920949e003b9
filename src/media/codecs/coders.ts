// How the codecs sound: octets to linear samples, and back. A codec that comes adds its line here.
import { rateOf } from './codecs.ts'
import type { Encoding, Rate } from './codecs.ts'
import { G722Decoder, G722Encoder, samplesPerOctet } from './g722.ts'
import type { Law, LawTables, Laws } from './g711.ts'
import { maxOpusOctets, OpusLibrary, opusSamples, usualWishes } from './opus.ts'
import type { OpusWishes } from './opus.ts'

/** Linear samples of 20 ms at the rate of a telephone. */
export const frameSamples = 160

export function frameSamplesAt(rate: Rate): number {
  return rate === 8000 ? frameSamples : 2 * frameSamples
}

/** One direction of one stream, which may keep a state between its packets. */
export interface Decoder {
  /** Of what it writes. */
  readonly rate: Rate
  /** How much time a payload stands for, in 1/8000 s; 0 for one that cannot be heard. */
  timeOf(payload: Uint8Array): number
  /** Writes the samples from `at` on. */
  decode(payload: Uint8Array, into: Int16Array, at: number): void
  /**
   * Makes up `count` samples for a gap, better than one who does not know the codec can; `next` is the packet after the gap,
   * where it is there. False: it cannot.
   */
  conceal?(into: Int16Array, at: number, count: number, next: Uint8Array | undefined): boolean
  close(): void
}

export interface Encoder {
  /** Of what it codes. */
  readonly rate: Rate
  /** Writes the octets of one frame from `at` on, and returns their number. */
  encode(frame: Int16Array, into: Uint8Array, at: number): number
  /** The far end says that it loses so much of what it is sent. */
  expectLoss?(percent: number): void
  /** The far end was sent this packet of another coder instead: what is coded next goes on from there. */
  follow?(payload: Uint8Array): void
  /** The most octets that a frame has. */
  readonly maxOctets: number
  /** The octets of a frame of silence, where they are the same after any other. */
  readonly silence: Buffer | undefined
  /** Whether frames of silence after many others may have the octets of the last one. */
  readonly repeatsSilence?: boolean
  close(): void
}

/** What a stream is coded with besides the codec. */
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

/** Of one worker. */
export interface Coders {
  /** Whether all of these can be spoken now. */
  hasAll(encodings: readonly Encoding[]): boolean
  /** Before one of these is spoken for the first time. */
  prepare(encodings: readonly Encoding[]): Promise<void>
  /** At the rate of the codec when none is given; a narrow one costs less. */
  decoder(encoding: Encoding, rate?: Rate): Decoder
  encoder(encoding: Encoding, wishes?: Wishes): Encoder
}

export function createCoders(laws: Laws): Coders {
  // These have no state, so each law has one.
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

/** Whether a frame has the same octets after any other: only such ones can be shared between streams. */
export function isLaw(encoding: Encoding): encoding is Law {
  return encoding === 'PCMU' || encoding === 'PCMA'
}
