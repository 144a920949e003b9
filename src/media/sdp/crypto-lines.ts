// Keys in SDP: the a=crypto lines of a media line (RFC 4568), read and written.
import { saltBytes, suiteNamed, suites } from '../srtp/suites.ts'
import type { MasterKey } from '../srtp/suites.ts'

/** A line that can be chosen, or is ours. */
export interface CryptoLine extends MasterKey {
  /** By which an answer says which line it has chosen. */
  readonly tag: number
}

/** What a section says of keys. */
export interface CryptoLines {
  readonly usable: readonly CryptoLine[]
  /** The suites of those that cannot be used, for people to read. */
  readonly others: readonly string[]
  /** Whether keys come in whole base64, with its padding. */
  readonly isPadded: boolean
}

// Phones name two to six.
const maxLines = 16
const maxNameChars = 40
// RFC 3711 §9.2; as a power of two or in digits.
const largestLifetime = 2 ** 48
// The value of a=crypto: tag, suite, keys, parameters.
const shape = /^(\d{1,9}) ([\w.-]+) (\S+)((?: +\S+)*) *$/
// One key: nothing before it, base64, how many packets it is for, and by which octets each names it.
const inlineKey = /^inline:([\w+/]+={0,2})(?:\|(2\^\d{1,2}|\d{1,15}))?(\|\d+:\d+)?$/i
// They change nothing of how packets are protected here: RFC 4568 §6.3.1 and §6.3.6.
const harmless = /^(?:KDR=0|WSH=\d+|-.*)$/i

/** The lines of a section in their order, which is that of the far end's preference. */
export function readCrypto(values: readonly string[]): CryptoLines {
  const usable: CryptoLine[] = []
  const others: string[] = []
  for (const value of values.slice(0, maxLines)) {
    const line = parseLine(value)
    if (typeof line === 'string') others.push(line)
    else if (!usable.some(({ tag }) => tag === line.tag)) usable.push(line)
  }
  return { usable, others, isPadded: values.some((value) => /=(?:[| ]|$)/.test(value)) }
}

/**
 * The name of its suite where the line is not to be chosen: RFC 4568 §5.1.2 and §6.3.7 ask for that where any of it is not
 * understood, or is not spoken here, such as several keys, which packets tell apart by an octet of their own.
 */
function parseLine(value: string): CryptoLine | string {
  const [, tag = '', name = '', keys = '', parameters = ''] = shape.exec(value) ?? []
  const suite = suiteNamed(name.toUpperCase())
  const [, base64 = '', lifetime, marker] = inlineKey.exec(keys) ?? []
  // Memory of its own, since a view would take all that it is a view of to the worker.
  const key = Uint8Array.from(Buffer.from(base64, 'base64'))
  const isSpoken = parameters.split(' ').every((one) => one === '' || harmless.test(one))
  const isUsable = isSpoken && marker === undefined && isLifetime(lifetime)
  if (suite === undefined || !isUsable || key.length !== suites[suite].keyBytes + saltBytes)
    return name === '' ? 'a line that cannot be read' : name.slice(0, maxNameChars)
  return { tag: Number(tag), suite, key }
}

/** The far end's own matter: it takes another key when its packets reach this number. */
function isLifetime(text: string | undefined): boolean {
  if (text === undefined) return true
  const packets = text.startsWith('2^') ? 2 ** Number(text.slice(2)) : Number(text)
  return packets > 0 && packets <= largestLifetime
}

/** Without the padding of base64, which RFC 4568 §6.1 leaves open and some gateways want. */
export function toInline({ key }: MasterKey, isPadded: boolean): string {
  const base64 = Buffer.from(key).toString('base64')
  return `inline:${isPadded ? base64 : base64.replace(/=+$/, '')}`
}
