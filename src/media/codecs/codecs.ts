// The codecs that are spoken, as a table: what SDP and admission need of each. How one sounds is in its coder (coders.ts).

/** As SDP names it, in capital letters. */
export type Encoding = 'PCMU' | 'PCMA' | 'G722' | 'OPUS'

/** Of samples between decoding and coding, in Hz: that of a telephone, and twice that. */
export type Rate = 8000 | 16_000

export interface Codec {
  readonly encoding: Encoding
  /** Of RTP timestamps, in Hz, as SDP names it. */
  readonly clockRate: number
  readonly rate: Rate
  /** Its number in our offers. */
  readonly payloadType: number
  /** What one session with it takes of a worker; G.711 is 1. */
  readonly weight: number
}

/**
 * In the order in which they are offered: who is not heard by a leg of another codec is heard best without coding twice, and
 * G.711 costs least. G.711 and G.722, whose clock is half of its rate for the sake of an old mistake: RFC 3551 §4.5.14 and
 * §4.5.2. Opus, whose clock is 48 kHz at any rate: RFC 7587 §4.1.
 */
export const codecs: readonly Codec[] = [
  { encoding: 'PCMU', clockRate: 8000, rate: 8000, payloadType: 0, weight: 1 },
  { encoding: 'PCMA', clockRate: 8000, rate: 8000, payloadType: 8, weight: 1 },
  { encoding: 'G722', clockRate: 8000, rate: 16_000, payloadType: 9, weight: 3 },
  { encoding: 'OPUS', clockRate: 48_000, rate: 16_000, payloadType: 96, weight: 6 },
]

/** What telephone networks speak: carriers and recorders are offered nothing else. */
export const telephoneCodecs: readonly Encoding[] = ['PCMU', 'PCMA']

/** Undefined for a codec that is not spoken. */
export function codecNamed(encoding: string, clockRate: number): Codec | undefined {
  return codecs.find((codec) => codec.encoding === encoding && codec.clockRate === clockRate)
}

export function clockRateOf(encoding: Encoding): number {
  return codecs.find((codec) => codec.encoding === encoding)?.clockRate ?? 8000
}

/** Of its samples. */
export function rateOf(encoding: Encoding): Rate {
  return codecs.find((codec) => codec.encoding === encoding)?.rate ?? 8000
}

/** Before there is an agreement a session counts as the lightest. */
export function weightOf(encoding?: Encoding): number {
  return codecs.find((codec) => codec.encoding === encoding)?.weight ?? 1
}
