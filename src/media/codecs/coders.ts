// How the codecs sound: octets to linear samples at the telephone rate, and back. A codec that comes adds its line here.
import type { Encoding } from './codecs.ts'
import type { Law, LawTables, Laws } from './g711.ts'

/** Linear samples of 20 ms. Everything between decoding and coding is at this one rate. */
export const frameSamples = 160

/** One direction of one stream each, since a codec may keep state between its packets. */
export interface Coder {
  /** How many samples a payload holds. */
  samplesOf(payload: Uint8Array): number
  /** Writes the samples from `at` on. */
  decode(payload: Uint8Array, into: Int16Array, at: number): void
  /** Writes the octets of one frame from `at` on, and returns their number. */
  encode(frame: Int16Array, into: Uint8Array, at: number): number
  /** The most octets that a frame has. */
  readonly maxOctets: number
  /** The octets of a frame of silence. */
  readonly silence: Buffer
}

export type Coders = Readonly<Record<Encoding, () => Coder>>

function g711Coder({ encode, decode, silence }: LawTables): Coder {
  return {
    samplesOf: (payload) => payload.length,
    decode: (payload, into, at) => {
      for (let index = 0; index < payload.length; index += 1)
        into[at + index] = decode[payload[index] ?? 0] ?? 0
    },
    encode: (frame, into, at) => {
      for (let index = 0; index < frame.length; index += 1)
        into[at + index] = encode[(frame[index] ?? 0) & 0xffff] ?? silence
      return frame.length
    },
    maxOctets: frameSamples,
    silence: Buffer.alloc(frameSamples, silence),
  }
}

/** One for each worker: the coders of G.711 have no state, so each law has one. */
export function createCoders(laws: Laws): Coders {
  const of = (law: Law): (() => Coder) => {
    const coder = g711Coder(laws[law])
    return () => coder
  }
  return { PCMU: of('PCMU'), PCMA: of('PCMA') }
}

/** The law in which audio files are kept for a codec: its own, where they can go out as they are. */
export function clipLawOf(encoding: Encoding): Law {
  return encoding
}
