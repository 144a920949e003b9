// Which certificate is for a name: RFC 6125 §6.4, and RFC 5922 §7.1 for the SIP URIs in it.
import { X509Certificate } from 'node:crypto'

export interface TlsPair {
  /** PEM. */
  readonly key: string
  /** Ours first, then those that lead to its authority. PEM. */
  readonly certificates: string
}

/** What is shown: the first where no name is asked for, or one that none of them has. */
export interface TlsPairs extends TlsPair {
  readonly others?: readonly TlsPair[]
}

export function pairsOf(identity: TlsPairs): readonly TlsPair[] {
  return [identity, ...(identity.others ?? [])]
}

/** A pair whose certificate is read. */
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

// What is no host name would have other meanings to OpenSSL: with a dot before it, all below it.
const hostName = /^[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*$/i

/** The first whose certificate has the name, or else the first that has a wildcard for it. */
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

/** The host names of a certificate, wildcards included. */
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

/** A wildcard is a whole label, and the first one. */
function hasWildcardFor(certificate: X509Certificate, name: string): boolean {
  return certificate.checkHost(name, { partialWildcards: false }) !== undefined
}
