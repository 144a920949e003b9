// The handshakes of those who connect here over TLS, whatever is spoken over it, with the certificate that is for the name they ask
// for (RFC 6066 §3), as it is at the moment.
import { constants } from 'node:crypto'
import type { Socket } from 'node:net'
import { createSecureContext, TLSSocket } from 'node:tls'
import type { SecureContext, SecureContextOptions } from 'node:tls'
import { choiceFor, readPairs } from './certificate-choice.ts'
import type { ReadPair, TlsPairs } from './certificate-choice.ts'

/** What this side shows, and whom it believes. Everything is PEM. */
export interface TlsIdentity extends TlsPairs {
  /** Believed beside those that Node.js knows. */
  readonly authorities: string | undefined
  /** Lists of what authorities have revoked: certificates/revocation.ts. */
  readonly revoked?: string | undefined
  /** False where it is shown to those alone who connect here: a far end that asks for one is shown none. Left out, true. */
  readonly isShown?: boolean
}

/** What every handshake holds to, on either side. */
export const commonTlsOptions = {
  minVersion: 'TLSv1.2',
  // One handshake for each connection: what a far end asks for again and again costs it less than us.
  secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
} as const satisfies SecureContextOptions

/** A certificate that is ready to be shown. */
interface Shown extends ReadPair {
  readonly context: SecureContext
}

export class TlsServer {
  readonly #identity: () => TlsIdentity
  #current: { readonly identity: TlsIdentity; readonly all: readonly Shown[] } | undefined

  /** `identity` is asked for each handshake: another value takes the place of the one before. */
  constructor(identity: () => TlsIdentity) {
    this.#identity = identity
  }

  /** `done` is called once; a handshake without an end is the caller's to close. */
  accept(raw: Socket, done: (outcome: TLSSocket | Error) => void): void {
    const all = this.#shown()
    const socket = new TLSSocket(raw, {
      isServer: true,
      secureContext: all[0]?.context,
      // Without a context the one above stays.
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

  /** Throws where a key is not that of its certificate, or either is no PEM. */
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
