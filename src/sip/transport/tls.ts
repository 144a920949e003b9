// TLS under SIP (RFC 3261 §26.2, RFC 5922): handshakes from both sides, and the checks of certificates.
import { isIP, type Socket } from 'node:net'
import {
  checkServerIdentity,
  connect,
  createSecureContext,
  rootCertificates,
  type DetailedPeerCertificate,
  type PeerCertificate,
  type SecureContext,
  type TLSSocket,
} from 'node:tls'
import { choiceFor, readPairs, type TlsPair } from '../../certificates/certificate-choice.ts'
import { isRevoked, parseRevocationLists, type RevocationList } from '../../certificates/revocation.ts'
import { commonTlsOptions, TlsServer, type TlsIdentity } from '../../certificates/tls-server.ts'
import { AppError } from '../../lib/errors.ts'

export interface SecureTransports {
  /** Called for each handshake: a changed identity is used from then on. */
  readonly identity: () => TlsIdentity
  /** The port of TLS; 0 for any free one. Left out, TLS is not served. */
  readonly tlsPort?: number | undefined
  /** The port of secure WebSockets, likewise. */
  readonly wssPort?: number | undefined
}

export class Tls {
  readonly #identity: () => TlsIdentity
  readonly #server: TlsServer
  #current: ClientSide | undefined

  /** `identity` is called for each handshake: a new value replaces the one before. */
  constructor(identity: () => TlsIdentity) {
    this.#identity = identity
    this.#server = new TlsServer(identity)
  }

  /**
   * Handles a connection that the far end opened. Calls `done` once; the caller must close a handshake that does not
   * end.
   */
  accept(raw: Socket, done: (outcome: TLSSocket | Error) => void): void {
    this.#server.accept(raw, done)
  }

  /**
   * Opens a connection to a far end that proves to be `name`, and knows us by `ownName`. Calls `done` once; a failure
   * is an AppError `sip_unreachable` or `sip_certificate`.
   */
  connect(
    { address, port, name, ownName }: FarEnd,
    done: (outcome: TLSSocket | AppError) => void,
  ): TLSSocket {
    const { contextFor, revoked } = this.#clientSide()
    const socket = connect({
      host: address,
      port,
      secureContext: contextFor(ownName),
      // RFC 6066 §3: an address is not a server name.
      ...(isIP(name) === 0 ? { servername: name } : {}),
      checkServerIdentity: (_host, certificate) =>
        identityError(name, certificate) ?? revocationError(certificate, revoked),
    })
    const failed = (error: Error): void => done(toRefusal(error, name))
    socket.once('error', failed)
    socket.once('secureConnect', () => {
      socket.off('error', failed)
      done(socket)
    })
    return socket
  }

  #clientSide(): ClientSide {
    const identity = this.#identity()
    if (this.#current?.identity !== identity) {
      const revoked = identity.revoked === undefined ? [] : parseRevocationLists(identity.revoked)
      this.#current = { identity, revoked, contextFor: clientContexts(identity) }
    }
    return this.#current
  }
}

interface FarEnd {
  readonly address: string
  readonly port: number
  readonly name: string
  readonly ownName?: string | undefined
}

/** The state for connections that are opened from here. */
interface ClientSide {
  readonly identity: TlsIdentity
  /** Returns the context with the certificate, one of our own, that has this name. */
  readonly contextFor: (ownName: string | undefined) => SecureContext
  readonly revoked: readonly RevocationList[]
}

/** Checks the certificate and its issuers against the revocation lists. */
function revocationError(certificate: PeerCertificate, lists: readonly RevocationList[]): Error | undefined {
  if (lists.length === 0) return undefined
  const chain: Buffer[] = []
  let one: PeerCertificate | DetailedPeerCertificate | undefined = certificate
  // The root authority is its own issuer.
  while (one !== undefined && !chain.some((raw) => raw.equals(one?.raw ?? raw))) {
    chain.push(one.raw)
    one = 'issuerCertificate' in one ? one.issuerCertificate : undefined
  }
  try {
    if (!isRevoked(chain, lists)) return undefined
  } catch (cause) {
    // The certificate is not DER, for example BER of indefinite length: one that cannot be looked up in the lists is
    // not trusted. An error thrown within the handshake would end the process.
    return Object.assign(new Error('it cannot be read', { cause }), { code: unreadable })
  }
  return Object.assign(new Error('a revocation list names it'), { code: 'CERT_REVOKED' })
}

/** Creates each context when it is first needed, since that reads all authorities. */
function clientContexts(identity: TlsIdentity): ClientSide['contextFor'] {
  const { authorities, isShown = true } = identity
  const pairs = readPairs(identity)
  const made = new Map<TlsPair, SecureContext>()
  const make = ({ key, certificates: cert }: TlsPair): SecureContext => {
    const believed = authorities === undefined ? {} : { ca: [...rootCertificates, authorities] }
    return createSecureContext({ ...commonTlsOptions, ...(isShown ? { key, cert } : {}), ...believed })
  }
  return (ownName) => {
    const pair = (ownName === undefined ? undefined : choiceFor(pairs, ownName)?.pair) ?? identity
    const context = made.get(pair) ?? make(pair)
    made.set(pair, context)
    return context
  }
}

/**
 * Checks the name of a certificate. RFC 5922 §7.1: its SIP URIs name the owner, and its other names if it has none.
 * Deviations: a wildcard stands for one label and an address may be named, as carriers have such certificates.
 */
export function identityError(name: string, certificate: PeerCertificate): Error | undefined {
  const domains = sipDomains(certificate.subjectaltname ?? '')
  if (domains.length === 0) return checkServerIdentity(name, certificate)
  if (domains.includes(name.toLowerCase())) return undefined
  return Object.assign(new Error(`it is for ${domains.join(', ')}`), {
    code: 'ERR_TLS_CERT_ALTNAME_INVALID',
  })
}

/** Excludes URIs with a user, which name a person (RFC 5922 §7.1). */
function sipDomains(alternativeNames: string): readonly string[] {
  const uris = alternativeNames.matchAll(/(?:^|, )URI:sip:([^\s,@;?]+)(?=,|$)/gi)
  return [...uris].map(([, domain = '']) => domain.toLowerCase())
}

const unreadable = 'SWITCHHOOK_CERT_UNREADABLE'

// Plain sentences for codes of OpenSSL and Node.js. Other codes are not faults of the certificate.
const faults: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'has expired',
  CERT_NOT_YET_VALID: 'is not valid yet',
  CERT_REVOKED: 'was revoked',
  [unreadable]: 'is not in DER, and cannot be looked for in the revocation lists',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'is signed by an authority that is not trusted',
  UNABLE_TO_GET_ISSUER_CERT: 'is signed by an authority that is not trusted',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'is signed by an authority that is not trusted',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'is signed by an authority that is not trusted',
  INVALID_PURPOSE: 'is not for a server',
  ERR_TLS_CERT_ALTNAME_INVALID: 'is for another name',
}

function toRefusal(cause: Error, name: string): AppError {
  const code = 'code' in cause ? String(cause.code) : ''
  const fault = faults[code]
  return fault === undefined
    ? new AppError('sip_unreachable', 'the far end cannot be reached over TLS', { cause })
    : new AppError('sip_certificate', `the certificate that ${name} shows ${fault}`, { cause })
}
