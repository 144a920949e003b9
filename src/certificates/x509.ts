// Self-signed certificates, and requests for others (RFC 5280, RFC 2986), with P-256 keys.
import { generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto'
import { isIP, isIPv4 } from 'node:net'
import {
  bitString,
  explicit,
  implicit,
  integer,
  objectId,
  octetString,
  sequence,
  set,
  utcTime,
  utf8String,
  yes,
  type Der,
} from './der.ts'

export interface KeyPair {
  readonly privateKey: KeyObject
  readonly publicKey: KeyObject
}

export function createKeyPair(): KeyPair {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' })
}

export function keyToPem({ privateKey }: KeyPair): string {
  return String(privateKey.export({ type: 'pkcs8', format: 'pem' }))
}

export interface SelfSigned {
  readonly keys: KeyPair
  /** Host names and addresses. */
  readonly names: readonly string[]
  readonly organization: string
  readonly fromMs: number
  readonly untilMs: number
}

const ecdsaWithSha256 = sequence(objectId('1.2.840.10045.4.3.2'))
const organizationName = objectId('2.5.4.10')
const basicConstraints = objectId('2.5.29.19')
const subjectAlternativeName = objectId('2.5.29.17')
const extendedKeyUsage = objectId('2.5.29.37')
const serverAuth = objectId('1.3.6.1.5.5.7.3.1')
const extensionRequest = objectId('1.2.840.113549.1.9.14')

/** Returns PEM. */
export function selfSignedCertificate({ keys, names, organization, fromMs, untilMs }: SelfSigned): string {
  const name = sequence(set(sequence(organizationName, utf8String(organization))))
  const serial = randomBytes(16)
  // RFC 5280 §4.1.2.2: positive, with a first octet that is not zero.
  serial[0] = ((serial[0] ?? 0) & 0x3f) | 0x40
  const isNoAuthority = sequence(basicConstraints, yes, octetString(sequence()))
  const content = sequence(
    explicit(0, integer(Buffer.from([2]))),
    integer(serial),
    ecdsaWithSha256,
    name,
    sequence(utcTime(fromMs), utcTime(untilMs)),
    name,
    publicKeyOf(keys),
    explicit(
      3,
      sequence(
        isNoAuthority,
        alternativeNames(names),
        sequence(extendedKeyUsage, octetString(sequence(serverAuth))),
      ),
    ),
  )
  return toPem('CERTIFICATE', signed(content, keys))
}

/** Returns DER. */
export function certificateRequest(keys: KeyPair, names: readonly string[]): Buffer {
  const content = sequence(
    integer(Buffer.from([0])),
    sequence(),
    publicKeyOf(keys),
    explicit(0, sequence(extensionRequest, set(sequence(alternativeNames(names))))),
  )
  return signed(content, keys)
}

function signed(content: Der, { privateKey }: KeyPair): Der {
  return sequence(content, ecdsaWithSha256, bitString(sign('sha256', content, privateKey)))
}

function publicKeyOf({ publicKey }: KeyPair): Der {
  return publicKey.export({ type: 'spki', format: 'der' })
}

function alternativeNames(names: readonly string[]): Der {
  const all = names.map((name) =>
    isIP(name) === 0 ? implicit(2, Buffer.from(name)) : implicit(7, addressOctets(name)),
  )
  return sequence(subjectAlternativeName, octetString(sequence(...all)))
}

function addressOctets(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number))
  const [head = '', tail] = address.split('::')
  const words = (text: string): number[] =>
    text === '' ? [] : text.split(':').map((word) => Number.parseInt(word, 16))
  const [before, after] = [words(head), words(tail ?? '')]
  const all = [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after]
  return Buffer.from(all.flatMap((word) => [word >> 8, word & 0xff]))
}

function toPem(label: string, der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? []
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n')
}
