// The encoding of certificates: the DER types that they use (ITU-T X.690).

export type Der = Buffer

function value(tag: number, ...parts: readonly Uint8Array[]): Der {
  const content = Buffer.concat(parts)
  const { length } = content
  const octets = [...lengthOctets(length)]
  return Buffer.concat([Buffer.from([tag, ...octets]), content])
}

/** Encodes a length: one octet below 128; otherwise the number of octets that follow, then those. */
function lengthOctets(length: number): readonly number[] {
  if (length < 0x80) return [length]
  const octets: number[] = []
  for (let left = length; left > 0; left >>= 8) octets.unshift(left & 0xff)
  return [0x80 | octets.length, ...octets]
}

export const sequence = (...parts: readonly Der[]): Der => value(0x30, ...parts)
export const set = (...parts: readonly Der[]): Der => value(0x31, ...parts)
export const octetString = (bytes: Uint8Array): Der => value(0x04, bytes)
export const bitString = (bytes: Uint8Array): Der => value(0x03, Buffer.from([0]), bytes)
export const utf8String = (text: string): Der => value(0x0c, Buffer.from(text, 'utf8'))
export const yes: Der = value(0x01, Buffer.from([0xff]))

/** Encodes a number given as its octets. The first must be below 128: no number here is negative. */
export const integer = (bytes: Uint8Array): Der => value(0x02, bytes)

/** Wraps a value in a context tag. */
export const explicit = (tag: number, part: Der): Der => value(0xa0 | tag, part)
/** Encodes a value with a context tag in place of the tag of its type. */
export const implicit = (tag: number, bytes: Uint8Array): Der => value(0x80 | tag, bytes)

export function objectId(text: string): Der {
  const [first = 0, second = 0, ...rest] = text.split('.').map(Number)
  return value(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(toBase128)]))
}

function toBase128(number: number): readonly number[] {
  const octets = [number & 0x7f]
  for (let left = number >> 7; left > 0; left >>= 7) octets.unshift(0x80 | (left & 0x7f))
  return octets
}

/** Encodes a time before 2050, which is all that is written here: RFC 5280 §4.1.2.5. */
export function utcTime(ms: number): Der {
  const text = new Date(ms).toISOString()
  return value(0x17, Buffer.from(`${text.slice(2, 19).replaceAll(/[-:T]/g, '')}Z`))
}
