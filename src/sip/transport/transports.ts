// The transports of SIP: how each is written, and what the stack may rely on. Nothing else compares their names.

interface TransportTraits {
  readonly name: string
  /** What is sent arrives, in order, over a connection (RFC 3261 §18): nothing is repeated, and no size is too large. */
  readonly isReliable: boolean
  readonly isSecure: boolean
  /** The port of a URI or sent-by that names none (RFC 3261 §19.1.2, §18.2.2). */
  readonly defaultPort: number
  /** The transport of a Via: RFC 3261 §20.42. */
  readonly viaName: string
  /** The transport parameter of our Contact; undefined for the one that a URI means without it. */
  readonly uriParameter: string | undefined
}

export const transports = {
  udp: {
    name: 'udp',
    isReliable: false,
    isSecure: false,
    defaultPort: 5060,
    viaName: 'UDP',
    uriParameter: undefined,
  },
  tcp: {
    name: 'tcp',
    isReliable: true,
    isSecure: false,
    defaultPort: 5060,
    viaName: 'TCP',
    uriParameter: 'tcp',
  },
} as const satisfies Readonly<Record<string, TransportTraits>>

export type Transport = keyof typeof transports

/** Where messages go to and come from. */
export interface Remote {
  readonly transport: Transport
  readonly address: string
  readonly port: number
}

/** What a sip URI without a transport parameter means: RFC 3263 §4.1. */
export const defaultTransport: Transport = 'udp'
/** Carries a request that is too large for a datagram: RFC 3261 §18.1.1. */
export const largeRequestTransport: Transport = 'tcp'

export function isReliable({ transport }: { readonly transport: Transport }): boolean {
  return transports[transport].isReliable
}

/** The transport of this name, in any case; undefined for one that is not served. */
export function toTransport(name: string): Transport | undefined {
  const lower = name.toLowerCase()
  return isTransport(lower) ? lower : undefined
}

export function isTransport(name: string): name is Transport {
  return Object.hasOwn(transports, name)
}
