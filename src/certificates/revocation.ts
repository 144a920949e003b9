// The certificates that their authorities have revoked, from lists in files (RFC 5280 §5). A list counts only for its
// own authority: the option `crl` of Node.js requires a list of every authority on the way.
import { X509Certificate, verify, type KeyObject } from 'node:crypto'

/** A DER value: its tag, its content, and the whole encoding. */
interface Value {
  readonly tag: number
  readonly content: Buffer
  readonly whole: Buffer
}

export interface RevocationList {
  /** The name of the authority, in DER. */
  readonly issuer: Buffer
  /** The serial numbers in hex, as DER encodes them. */
  readonly serials: ReadonlySet<string>
  isSignedBy(key: KeyObject): boolean
}

const pem = /-----BEGIN X509 CRL-----([^-]+)-----END X509 CRL-----/g
const sequenceTag = 0x30
// UTCTime and GeneralizedTime.
const timeTags: readonly (number | undefined)[] = [0x17, 0x18]

/**
 * Throws if the text holds no list in PEM, or a malformed one; throws UnknownSignature if a signature cannot be
 * checked.
 */
export function parseRevocationLists(text: string): readonly RevocationList[] {
  const lists = [...text.matchAll(pem)].map(([, base64 = '']) => parseList(Buffer.from(base64, 'base64')))
  if (lists.length === 0) throw new Error('it holds no revocation list in PEM')
  return lists
}

/**
 * Reports whether a list signed by the issuing authority names the certificate, or one of those that lead to the root.
 */
export function isRevoked(chain: readonly Buffer[], lists: readonly RevocationList[]): boolean {
  return chain.some((raw, index) => {
    const signer = chain[index + 1]
    const { serial, issuer } = identityOf(raw)
    const named = lists.filter((list) => list.serials.has(serial) && list.issuer.equals(issuer))
    if (named.length === 0 || signer === undefined) return false
    const { publicKey } = new X509Certificate(signer)
    return named.some((list) => list.isSignedBy(publicKey))
  })
}

function parseList(der: Buffer): RevocationList {
  const [content, algorithm, signature] = members(one(der))
  if (content === undefined || algorithm === undefined || signature === undefined) throw unreadable()
  const rest = members(content)
  // RFC 5280 §5.1.2.1: the version is optional.
  if (rest[0]?.tag === 0x02) rest.shift()
  const [, issuer, , ...more] = rest
  if (issuer === undefined) throw unreadable()
  // The time of the next list is optional too. An old list still names revoked certificates.
  if (timeTags.includes(more[0]?.tag)) more.shift()
  const [entries] = more.filter(({ tag }) => tag === sequenceTag)
  const serials = entries === undefined ? [] : members(entries).map((entry) => hexOf(members(entry)[0]))
  const oid = hexOf(members(algorithm)[0])
  const digest = digests[oid]
  // A list that cannot be checked would revoke nothing, and no one would notice.
  if (digest === undefined) throw new UnknownSignature(oid)
  return {
    issuer: issuer.whole,
    serials: new Set(serials),
    // A bit string begins with the number of unused bits.
    isSignedBy: (key) => verify(digest, content.whole, key, signature.content.subarray(1)),
  }
}

/** Thrown for a list signed by an algorithm that is not in `digests`. */
export class UnknownSignature extends Error {
  constructor(oid: string) {
    super(
      oid === rsaPss
        ? 'it has a list that is signed with RSA-PSS'
        : 'it has a list that is signed with an algorithm that is not known here',
    )
  }
}

const rsaPss = '2a864886f70d01010a'

// The content of the object ids of RSA and ECDSA with SHA-2: RFC 4055 §5, RFC 5758 §3.2.
// Ed25519 and Ed448 name no digest: RFC 8410 §3.
const digests: Readonly<Record<string, string | null>> = {
  '2b6570': null,
  '2b6571': null,
  '2a864886f70d01010b': 'sha256',
  '2a864886f70d01010c': 'sha384',
  '2a864886f70d01010d': 'sha512',
  '2a8648ce3d040302': 'sha256',
  '2a8648ce3d040303': 'sha384',
  '2a8648ce3d040304': 'sha512',
}

function identityOf(certificate: Buffer): { readonly serial: string; readonly issuer: Buffer } {
  const [content] = members(one(certificate))
  const rest = content === undefined ? [] : members(content)
  if (rest[0]?.tag === 0xa0) rest.shift()
  const [serial, , issuer] = rest
  if (issuer === undefined) throw unreadable()
  return { serial: hexOf(serial), issuer: issuer.whole }
}

function one(der: Buffer): Value {
  const [value] = split(der)
  if (value === undefined) throw unreadable()
  return value
}

function members({ content }: Value): Value[] {
  return split(content)
}

/**
 * Splits DER values. Accepts lengths of up to four octets, within the bytes given. Refuses BER of indefinite length.
 */
function split(bytes: Buffer): Value[] {
  const values: Value[] = []
  let at = 0
  while (at < bytes.length) {
    const tag = bytes[at] ?? 0
    const first = bytes[at + 1] ?? 0
    const octets = first < 0x80 ? 0 : first & 0x7f
    if (first === 0x80 || octets > 4 || at + 2 + octets > bytes.length) throw unreadable()
    const length = octets === 0 ? first : bytes.readUIntBE(at + 2, octets)
    const begin = at + 2 + octets
    const end = begin + length
    if (end > bytes.length) throw unreadable()
    values.push({ tag, content: bytes.subarray(begin, end), whole: bytes.subarray(at, end) })
    at = end
  }
  return values
}

function hexOf(value: Value | undefined): string {
  if (value === undefined) throw unreadable()
  return value.content.toString('hex')
}

function unreadable(): Error {
  return new Error('it holds something else than a revocation list')
}
