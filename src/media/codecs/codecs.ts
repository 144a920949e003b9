// The table of supported codecs, with what SDP and admission need of each. Encoding and decoding are in coders.ts.

/** The name in SDP, in capital letters. */
export type Encoding = 'PCMU' | 'PCMA' | 'G722' | 'OPUS'

/** The rate of samples between decoding and coding, in Hz: that of a telephone, and twice that. */
export type Rate = 8000 | 16_000

export interface Codec {
  readonly encoding: Encoding
  /** The clock rate of RTP timestamps in Hz, as SDP states it. */
  readonly clockRate: number
  readonly rate: Rate
  /** Its payload type in our offers. */
  readonly payloadType: number
  /** The load of one session with it on a worker, where G.711 is 1. */
  readonly weight: number
}

/**
 * In the order of our offers. G.711 costs least, so it is first unless the leg that is heard has another codec: that
 * one then comes first, so that two legs of one codec need no transcoding. G.711 and G.722, whose clock is half its
 * rate because of an old mistake: RFC 3551 §4.5.14 and §4.5.2. Opus, whose clock is 48 kHz at any rate: RFC 7587 §4.1.
 */
export const codecs: readonly Codec[] = [
  { encoding: 'PCMU', clockRate: 8000, rate: 8000, payloadType: 0, weight: 1 },
  { encoding: 'PCMA', clockRate: 8000, rate: 8000, payloadType: 8, weight: 1 },
  { encoding: 'G722', clockRate: 8000, rate: 16_000, payloadType: 9, weight: 3 },
  { encoding: 'OPUS', clockRate: 48_000, rate: 16_000, payloadType: 96, weight: 6 },
]

/** The codecs of telephone networks. Offers to carriers and recorders name no others. */
export const telephoneCodecs: readonly Encoding[] = ['PCMU', 'PCMA']

/** Returns undefined for a codec that is not supported. */
export function codecNamed(encoding: string, clockRate: number): Codec | undefined {
  return codecs.find((codec) => codec.encoding === encoding && codec.clockRate === clockRate)
}

export function clockRateOf(encoding: Encoding): number {
  return codecs.find((codec) => codec.encoding === encoding)?.clockRate ?? 8000
}

/** Returns the rate of its samples. */
export function rateOf(encoding: Encoding): Rate {
  return codecs.find((codec) => codec.encoding === encoding)?.rate ?? 8000
}

/** Returns the load of a session. Before there is an agreement it counts as the lightest. */
export function weightOf(encoding?: Encoding): number {
  return codecs.find((codec) => codec.encoding === encoding)?.weight ?? 1
}
