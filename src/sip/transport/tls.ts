// TLS under SIP (RFC 3261 §26.2, RFC 5922): handshakes from both sides, and which certificates are believed.
import { constants } from 'node:crypto'
import { isIP } from 'node:net'
import type { Socket } from 'node:net'
import { checkServerIdentity, connect, createSecureContext, rootCertificates, TLSSocket } from 'node:tls'
import type { PeerCertificate, SecureContext } from 'node:tls'
import { AppError } from '../../lib/errors.ts'

/** What this side shows, and whom it believes. Everything is PEM. */
export interface TlsIdentity {
  readonly key: string
  /** Ours first, then those that lead to its authority. */
  readonly certificates: string
  /** Believed beside those that Node.js knows. */
  readonly authorities: string | undefined
}

export interface SecureTransports {
  /** Asked for each handshake: what changes is shown from then on. */
  readonly identity: () => TlsIdentity
  /** The port of TLS; 0 for any free one. Left out, it is not served. */
  readonly tlsPort?: number | undefined
  /** The port of secure WebSockets, likewise. */
  readonly wssPort?: number | undefined
}

interface Contexts {
  readonly identity: TlsIdentity
  readonly server: SecureContext
  readonly client: SecureContext
}

export class Tls {
  readonly #identity: () => TlsIdentity
  #contexts: Contexts | undefined

  /** `identity` is asked for each handshake: another value takes the place of the one before. */
  constructor(identity: () => TlsIdentity) {
    this.#identity = identity
  }

  /** The far end opened the connection. `done` is called once; a handshake without an end is the caller's to close. */
  accept(raw: Socket, done: (outcome: TLSSocket | Error) => void): void {
    const socket = new TLSSocket(raw, { isServer: true, secureContext: this.#current().server })
    let failure = new Error('the far end closed the connection before the handshake was over')
    const closed = (): void => done(failure)
    const failed = (error: Error): void => {
      failure = error
      socket.destroy()
    }
    socket.on('_tlsError', failed)
    socket.on('error', failed)
    socket.once('close', closed)
    socket.once('secure', () => {
      socket.off('_tlsError', failed)
      socket.off('error', failed)
      socket.off('close', closed)
      done(socket)
    })
  }

  /** Opens a connection to who proves to be `name`. `done` is called once, with an AppError `sip_unreachable` if at all. */
  connect(
    { address, port, name }: { readonly address: string; readonly port: number; readonly name: string },
    done: (outcome: TLSSocket | AppError) => void,
  ): TLSSocket {
    const socket = connect({
      host: address,
      port,
      secureContext: this.#current().client,
      // RFC 6066 §3: no address is a server name.
      ...(isIP(name) === 0 ? { servername: name } : {}),
      checkServerIdentity: (_host, certificate) => identityError(name, certificate),
    })
    const failed = (error: Error): void => done(toRefusal(error, name))
    socket.once('error', failed)
    socket.once('secureConnect', () => {
      socket.off('error', failed)
      done(socket)
    })
    return socket
  }

  #current(): Contexts {
    const identity = this.#identity()
    if (this.#contexts?.identity !== identity) this.#contexts = toContexts(identity)
    return this.#contexts
  }
}

/** Throws where the key is not that of the certificate, or either is no PEM. */
export function toContexts(identity: TlsIdentity): Contexts {
  const { key, certificates: cert, authorities } = identity
  const common = {
    key,
    cert,
    minVersion: 'TLSv1.2',
    // One handshake for each connection: what a far end asks for again and again costs it less than us.
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
  } as const
  return {
    identity,
    server: createSecureContext(common),
    client: createSecureContext({
      ...common,
      ...(authorities === undefined ? {} : { ca: [...rootCertificates, authorities] }),
    }),
  }
}

/**
 * RFC 5922 §7.1: the SIP URIs of a certificate say whose it is, and its other names where it has none. Deviations: a
 * wildcard stands for one label and an address may be named, as carriers have such certificates.
 */
export function identityError(name: string, certificate: PeerCertificate): Error | undefined {
  const domains = sipDomains(certificate.subjectaltname ?? '')
  if (domains.length === 0) return checkServerIdentity(name, certificate)
  if (domains.includes(name.toLowerCase())) return undefined
  return Object.assign(new Error(`it is that of ${domains.join(', ')}`), {
    code: 'ERR_TLS_CERT_ALTNAME_INVALID',
  })
}

/** A URI with a user is that of a person (RFC 5922 §7.1). */
function sipDomains(alternativeNames: string): readonly string[] {
  const uris = alternativeNames.matchAll(/(?:^|, )URI:sip:([^\s,@;?]+)(?=,|$)/gi)
  return [...uris].map(([, domain = '']) => domain.toLowerCase())
}

// The words of OpenSSL, in ours. What is not among them is no fault of the certificate.
const faults: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'has expired',
  CERT_NOT_YET_VALID: 'is not valid yet',
  CERT_REVOKED: 'was revoked',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'is signed by itself',
  SELF_SIGNED_CERT_IN_CHAIN: 'is signed by an authority that is not believed',
  UNABLE_TO_GET_ISSUER_CERT: 'is signed by an authority that is not believed',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'is signed by an authority that is not believed',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'is signed by an authority that is not believed',
  INVALID_PURPOSE: 'is not one of a server',
  ERR_TLS_CERT_ALTNAME_INVALID: 'is that of another name',
}

function toRefusal(cause: Error, name: string): AppError {
  const code = 'code' in cause ? String(cause.code) : ''
  const fault = faults[code]
  return fault === undefined
    ? new AppError('sip_unreachable', 'the far end cannot be reached over TLS', { cause })
    : new AppError('sip_certificate', `the certificate that ${name} shows ${fault}`, { cause })
}
