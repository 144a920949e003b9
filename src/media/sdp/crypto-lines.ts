// Keys in SDP: the a=crypto lines of a media line (RFC 4568), parsed and written.
import { masterBytesOf, suiteNamed, type MasterKey } from '../srtp/suites.ts'

/** A line that can be chosen, or our own. */
export interface CryptoLine extends MasterKey {
  /** The number by which an answer names the line that it chose. */
  readonly tag: number
  /** The name of its suite in the offer, if that is a name from before the RFC: an answer has the same one. */
  readonly name?: string | undefined
}

/** A line that cannot be chosen, for a message to people. */
export interface UnusableLine {
  /** Its suite, and the part of the line that is not supported. */
  readonly text: string
  /** Present for a supported suite. */
  readonly cure?: string
}

/** The keys of a media line. */
export interface CryptoLines {
  readonly usable: readonly CryptoLine[]
  readonly others: readonly UnusableLine[]
  /** Whether its keys have the padding of base64. */
  readonly isPadded: boolean
}

// Phones send two to six lines.
const maxLines = 16
const maxNameChars = 40
// The largest lifetime, RFC 3711 §9.2. It is written as a power of two or in digits.
const largestLifetime = 2 ** 48
// The value of a=crypto: tag, suite, keys, session parameters.
const shape = /^(\d{1,9}) ([\w.-]+) (\S+)((?: +\S+)*) *$/
// One key: base64, the lifetime in packets, and the MKI with its length in octets.
const inlineKey = /^inline:([\w+/]+={0,2})(?:\|(2\^\d{1,2}|\d{1,15}))?(?:\|(\d+):(\d+))?$/i
// RFC 4568 §6.1 allows 128 octets. Those in use have one to four.
const maxMkiBytes = 4
// Parameters that do not change the protection of packets here: RFC 4568 §6.3.1 and §6.3.6.
const harmless = /^(?:KDR=0|WSH=\d+|-.*)$/i

const oneKey = 'Send one key in each a=crypto line: several of them, told apart by an MKI, are not served.'
const shortMki = `Send an MKI of one to ${maxMkiBytes} octets that hold its number, such as |1:1, or none.`
const readable =
  'Send the key in the form of RFC 4568: inline:, base64, and a lifetime of at most 2^48 packets or none.'
const bare = 'Leave out the session parameters of the a=crypto line, such as UNENCRYPTED_SRTP and KDR.'

/** Returns the lines of a media line in their order, which is the far end's order of preference. */
export function readCrypto(values: readonly string[]): CryptoLines {
  const usable: CryptoLine[] = []
  const others: UnusableLine[] = []
  for (const value of values.slice(0, maxLines)) {
    const line = parseLine(value)
    if ('text' in line) others.push(line)
    else if (!usable.some(({ tag }) => tag === line.tag)) usable.push(line)
  }
  return { usable, others, isPadded: values.some((value) => /=(?:[| ]|$)/.test(value)) }
}

/**
 * Parses one line. RFC 4568 §5.1.2 and §6.3.7 require that a line is not chosen if any part of it is not understood,
 * or not supported here, such as several keys distinguished by the MKI of packets.
 */
function parseLine(value: string): CryptoLine | UnusableLine {
  const [, tag = '', name = '', keys = '', parameters = ''] = shape.exec(value) ?? []
  if (name === '') return { text: 'a line that cannot be read' }
  const named = name.toUpperCase()
  const suite = suiteNamed(named)
  if (suite === undefined) return { text: name.slice(0, maxNameChars) }
  const [, base64 = '', lifetime, number, octetsOfMki] = inlineKey.exec(keys) ?? []
  // A copy, since sending a view to the worker would send all the memory behind it.
  const key = Uint8Array.from(Buffer.from(base64, 'base64'))
  const unusable = (fault: string, cure: string): UnusableLine => ({ text: `${named} with ${fault}`, cure })
  if (keys.includes(';')) return unusable('several keys', oneKey)
  const mki = number === undefined ? undefined : toMki(Number(number), Number(octetsOfMki))
  if (number !== undefined && mki === undefined) return unusable('an MKI that is not served', shortMki)
  if (base64 === '') return unusable('a key that cannot be read', readable)
  const octets = masterBytesOf(suite)
  if (key.length !== octets)
    return unusable(
      `a key of ${key.length} octets`,
      `Send ${octets} octets in base64 as the key of ${named}: the master key and the master salt.`,
    )
  if (!isLifetime(lifetime)) return unusable('a lifetime out of range', readable)
  if (!parameters.split(' ').every((one) => one === '' || harmless.test(one)))
    return unusable('session parameters that are not served', bare)
  return {
    tag: Number(tag),
    ...(named === suite ? {} : { name: named }),
    suite,
    key,
    ...(mki === undefined ? {} : { mki }),
  }
}

/** Returns the MKI in network order; undefined if it is longer than those in use, or does not fit its length. */
function toMki(number: number, octets: number): Uint8Array | undefined {
  if (octets < 1 || octets > maxMkiBytes || number >= 256 ** octets) return undefined
  const mki = Buffer.alloc(octets)
  mki.writeUIntBE(number, 0, octets)
  return Uint8Array.from(mki)
}

/** Whether the lifetime is valid. Keeping it is up to the far end, which sends another key when it ends. */
function isLifetime(text: string | undefined): boolean {
  if (text === undefined) return true
  const packets = text.startsWith('2^') ? 2 ** Number(text.slice(2)) : Number(text)
  return packets > 0 && packets <= largestLifetime
}

/** Returns a key parameter. Padding of base64 is left open by RFC 4568 §6.1; some gateways require it. */
export function toInline({ key, mki }: MasterKey, isPadded: boolean): string {
  const base64 = Buffer.from(key).toString('base64')
  const marker = mki === undefined ? '' : `|${Buffer.from(mki).readUIntBE(0, mki.length)}:${mki.length}`
  return `inline:${isPadded ? base64 : base64.replace(/=+$/, '')}${marker}`
}
