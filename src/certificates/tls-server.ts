// The server side of TLS handshakes, for any protocol over it, with the current certificate for the requested name
// (RFC 6066 §3).
import { constants } from 'node:crypto'
import type { Socket } from 'node:net'
import { createSecureContext, TLSSocket, type SecureContext, type SecureContextOptions } from 'node:tls'
import { choiceFor, readPairs, type ReadPair, type TlsPairs } from './certificate-choice.ts'

/** The certificates that this side shows, and the authorities it trusts, in PEM. */
export interface TlsIdentity extends TlsPairs {
  /** Authorities that are trusted in addition to those of Node.js. */
  readonly authorities: string | undefined
  /** The revocation lists of authorities: certificates/revocation.ts. */
  readonly revoked?: string | undefined
  /**
   * False if the certificate is shown only to clients that connect here, and not when we connect to a far end. Left
   * out, true.
   */
  readonly isShown?: boolean
}

/** The options of every handshake, on either side. */
export const commonTlsOptions = {
  minVersion: 'TLSv1.2',
  // One handshake for each connection: a renegotiation costs a far end less than it costs us.
  secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
} as const satisfies SecureContextOptions

/** A certificate with its context. */
interface Shown extends ReadPair {
  readonly context: SecureContext
}

export class TlsServer {
  readonly #identity: () => TlsIdentity
  #current: { readonly identity: TlsIdentity; readonly all: readonly Shown[] } | undefined

  /** `identity` is called for each handshake: a new value replaces the one before. */
  constructor(identity: () => TlsIdentity) {
    this.#identity = identity
  }

  /** Begins a handshake. Calls `done` once; the caller must close a handshake that does not end. */
  accept(raw: Socket, done: (outcome: TLSSocket | Error) => void): void {
    const all = this.#shown()
    const socket = new TLSSocket(raw, {
      isServer: true,
      secureContext: all[0]?.context,
      // Without a context from the callback, the one above is used.
      ...(all.length < 2
        ? {}
        : { SNICallback: (name, chosen) => chosen(null, choiceFor(all, name)?.context) }),
    })
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

  /** Throws if a key does not match its certificate, or if one of them is not PEM. */
  #shown(): readonly Shown[] {
    const identity = this.#identity()
    if (this.#current?.identity !== identity) {
      const all = readPairs(identity).map((one) => {
        const { key, certificates: cert } = one.pair
        return { ...one, context: createSecureContext({ ...commonTlsOptions, key, cert }) }
      })
      this.#current = { identity, all }
    }
    return this.#current.all
  }
}
