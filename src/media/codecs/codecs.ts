// The codecs that are spoken, as a table: what SDP and admission need of each. How one sounds is in its coder (coders.ts).

/** As SDP names it. */
export type Encoding = 'PCMU' | 'PCMA'

export interface Codec {
  readonly encoding: Encoding
  /** Of RTP timestamps, in Hz, as SDP names it. */
  readonly clockRate: number
  /** Its number in our offers. */
  readonly payloadType: number
  /** What one session with it takes of a worker; G.711 is 1. */
  readonly weight: number
}

/** In the order in which they are offered. G.711: RFC 3551 §4.5.14. */
export const codecs: readonly Codec[] = [
  { encoding: 'PCMU', clockRate: 8000, payloadType: 0, weight: 1 },
  { encoding: 'PCMA', clockRate: 8000, payloadType: 8, weight: 1 },
]

/** Undefined for a codec that is not spoken. */
export function codecNamed(encoding: string, clockRate: number): Codec | undefined {
  return codecs.find((codec) => codec.encoding === encoding && codec.clockRate === clockRate)
}

export function clockRateOf(encoding: Encoding): number {
  return codecs.find((codec) => codec.encoding === encoding)?.clockRate ?? 8000
}

/** Before there is an agreement a session counts as the lightest. */
export function weightOf(encoding?: Encoding): number {
  return codecs.find((codec) => codec.encoding === encoding)?.weight ?? 1
}
