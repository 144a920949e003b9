// The choice of the certificate for a name: RFC 6125 §6.4, and RFC 5922 §7.1 for its SIP URIs.
import { X509Certificate } from 'node:crypto'

export interface TlsPair {
  /** PEM. */
  readonly key: string
  /** Our certificate first, then those that lead to its authority. PEM. */
  readonly certificates: string
}

/** The certificates to show. The first is shown if no name is requested, or a name that no certificate has. */
export interface TlsPairs extends TlsPair {
  readonly others?: readonly TlsPair[]
}

export function pairsOf(identity: TlsPairs): readonly TlsPair[] {
  return [identity, ...(identity.others ?? [])]
}

/** A pair with its certificate parsed. */
export interface ReadPair {
  readonly pair: TlsPair
  readonly certificate: X509Certificate
}

export function readPair(pair: TlsPair): ReadPair {
  return { pair, certificate: new X509Certificate(pair.certificates) }
}

export function readPairs(identity: TlsPairs): readonly ReadPair[] {
  return pairsOf(identity).map(readPair)
}

// Other texts would have special meanings to OpenSSL: a leading dot matches all names below.
const hostName = /^[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*$/i

/** Returns the first pair whose certificate has the name, or else the first with a wildcard for it. */
export function choiceFor<T extends Pick<ReadPair, 'certificate'>>(
  pairs: readonly T[],
  name: string,
): T | undefined {
  if (name.length > 253 || !hostName.test(name)) return undefined
  return (
    pairs.find(({ certificate }) => isNamed(certificate, name)) ??
    pairs.find(({ certificate }) => hasWildcardFor(certificate, name))
  )
}

export function isFor(certificate: X509Certificate, name: string): boolean {
  return choiceFor([{ certificate }], name) !== undefined
}

/** Returns the host names of a certificate, including wildcards. */
export function hostNamesOf({ subjectAltName = '' }: X509Certificate): readonly string[] {
  const names = subjectAltName.matchAll(/(?:^|, )(?:DNS:|URI:sip:)([^\s,"@;?]+)(?=,|$)/gi)
  return [...names].map(([, name = '']) => name.toLowerCase())
}

function isNamed(certificate: X509Certificate, name: string): boolean {
  return (
    certificate.checkHost(name, { wildcards: false }) !== undefined ||
    hostNamesOf(certificate).includes(name.toLowerCase())
  )
}

/** Matches wildcards only if they are the whole first label. */
function hasWildcardFor(certificate: X509Certificate, name: string): boolean {
  return certificate.checkHost(name, { partialWildcards: false }) !== undefined
}
