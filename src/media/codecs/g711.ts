// G.711, both laws, as tables: ITU-T G.711 (64 kbit/s, 8 bits per sample).

/** The names are those of RFC 3551 §4.5.14. */
export type Law = 'PCMU' | 'PCMA'

export interface LawTables {
  readonly law: Law
  /** The octet of a sample of value zero. */
  readonly silence: number
  /** The octet of a linear 16-bit sample, indexed by `sample & 0xffff`. */
  readonly encode: Uint8Array
  /** The linear 16-bit sample of an octet. */
  readonly decode: Int16Array
}

export type Laws = Readonly<Record<Law, LawTables>>

// 33 on the Recommendation's 14-bit scale, 132 on our 16-bit scale. It makes every segment a power of two.
const muLawBias = 132
const muLawLargest = 32_767 - muLawBias

function encodeMuLaw(sample: number): number {
  const sign = sample < 0 ? 0x80 : 0
  const biased = Math.min(Math.abs(sample), muLawLargest) + muLawBias
  const segment = 24 - Math.clz32(biased)
  const step = (biased >> (segment + 3)) & 0x0f
  // All bits are inverted on the line, so that silence is sent as ones.
  return ~(sign | (segment << 4) | step) & 0xff
}

function decodeMuLaw(octet: number): number {
  const bits = ~octet & 0xff
  const magnitude = ((((bits & 0x0f) << 3) + muLawBias) << ((bits >> 4) & 0x07)) - muLawBias
  return bits & 0x80 ? -magnitude : magnitude
}

function encodeALaw(sample: number): number {
  // 13 significant bits. A negative value is folded by one's complement, as in the table of the Recommendation.
  const value = sample >> 3
  const folded = value < 0 ? ~value : value
  const segment = Math.max(0, 27 - Math.clz32(folded))
  const step = (folded >> Math.max(1, segment)) & 0x0f
  // Even bits are inverted on the line; the sign bit is one for positive values.
  return ((segment << 4) | step) ^ (value < 0 ? 0x55 : 0xd5)
}

function decodeALaw(octet: number): number {
  const bits = octet ^ 0x55
  const segment = (bits >> 4) & 0x07
  const base = ((bits & 0x0f) << 4) + 8
  const magnitude = segment === 0 ? base : (base + 0x100) << (segment - 1)
  return bits & 0x80 ? magnitude : -magnitude
}

function createTables(law: Law): LawTables {
  const toOctet = law === 'PCMU' ? encodeMuLaw : encodeALaw
  const toSample = law === 'PCMU' ? decodeMuLaw : decodeALaw
  const encode = new Uint8Array(65_536)
  for (let sample = -32_768; sample < 32_768; sample += 1) encode[sample & 0xffff] = toOctet(sample)
  const decode = Int16Array.from({ length: 256 }, (_, octet) => toSample(octet))
  return { law, silence: toOctet(0), encode, decode }
}

export function createLaws(): Laws {
  return { PCMU: createTables('PCMU'), PCMA: createTables('PCMA') }
}
