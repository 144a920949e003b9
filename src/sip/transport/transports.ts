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
  /** False where the far end alone opens connections, so that one that is gone cannot be opened again (RFC 7118 §4). */
  readonly isOpenedHere: boolean
}

export const transports = {
  udp: {
    name: 'udp',
    isReliable: false,
    isSecure: false,
    defaultPort: 5060,
    viaName: 'UDP',
    uriParameter: undefined,
    isOpenedHere: true,
  },
  tcp: {
    name: 'tcp',
    isReliable: true,
    isSecure: false,
    defaultPort: 5060,
    viaName: 'TCP',
    uriParameter: 'tcp',
    isOpenedHere: true,
  },
  tls: {
    name: 'tls',
    isReliable: true,
    isSecure: true,
    defaultPort: 5061,
    viaName: 'TLS',
    uriParameter: 'tls',
    isOpenedHere: true,
  },
  ws: {
    name: 'ws',
    isReliable: true,
    isSecure: false,
    defaultPort: 80,
    viaName: 'WS',
    uriParameter: 'ws',
    isOpenedHere: false,
  },
  // RFC 7118 §5.2.1: a URI says `transport=ws` for both, and sips: or the socket itself says which.
  wss: {
    name: 'wss',
    isReliable: true,
    isSecure: true,
    defaultPort: 443,
    viaName: 'WSS',
    uriParameter: 'ws',
    isOpenedHere: false,
  },
} as const satisfies Readonly<Record<string, TransportTraits>>

export type Transport = keyof typeof transports

/** Where messages go to and come from. */
export interface Remote {
  readonly transport: Transport
  readonly address: string
  readonly port: number
  /**
   * The domain that the far end must prove by its certificate (RFC 5922 §7.2), of a connection that is opened from here over
   * TLS. A connection that the far end opened has none.
   */
  readonly name?: string
  /**
   * The name that such a far end knows us by: it is shown the certificate that has it, where it asks for one. Left out, it is
   * shown the first.
   */
  readonly ownName?: string
}

/** A place over TLS, for one that knows us by this name. */
export function knownAs<T extends Remote>(remote: T, ownName: string | undefined): T {
  return ownName === undefined || remote.name === undefined ? remote : { ...remote, ownName }
}

/** Where the transports listen. */
export interface Listening {
  readonly address: string
  /** The one of UDP and TCP. */
  readonly port: number
  /** What else is served has a port of its own. */
  readonly ports?: Readonly<Partial<Record<Transport, number>>>
}

/** Where a peer of this transport reaches us; one that is not known yet, by that of UDP and TCP. */
export function portFor({ port, ports }: Listening, transport: Transport | undefined): number {
  return (transport === undefined ? undefined : ports?.[transport]) ?? port
}

/** What a sip URI without a transport parameter means: RFC 3263 §4.1. */
export const defaultTransport: Transport = 'udp'
/** Carries a request that is too large for a datagram: RFC 3261 §18.1.1. */
export const largeRequestTransport: Transport = 'tcp'

/** What a sips URI makes of the transport that it names: RFC 3261 §26.2.2, RFC 7118 §5.2.1. */
const secureTransports: Readonly<Partial<Record<Transport, Transport>>> = {
  tcp: 'tls',
  tls: 'tls',
  ws: 'wss',
  wss: 'wss',
}

/** The transport that a URI asks for; undefined for one that is not served, or that a sips URI cannot go by. */
export function transportOf(scheme: 'sip' | 'sips', parameter: string | undefined): Transport | undefined {
  if (scheme === 'sip') return toTransport(parameter ?? defaultTransport)
  const named = toTransport(parameter ?? 'tls')
  return named && secureTransports[named]
}

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
