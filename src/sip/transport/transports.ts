// The transports of SIP: their spellings, and the properties that the stack relies on. No other code compares their
// names.

interface TransportTraits {
  readonly name: string
  /** Data arrives, in order, over a connection (RFC 3261 §18): nothing is retransmitted, and no size is too large. */
  readonly isReliable: boolean
  readonly isSecure: boolean
  /** The port for a URI or sent-by without one (RFC 3261 §19.1.2, §18.2.2). */
  readonly defaultPort: number
  /** The transport in a Via: RFC 3261 §20.42. */
  readonly viaName: string
  /** The transport parameter of our Contact; undefined for the default transport of a URI. */
  readonly uriParameter: string | undefined
  /** False if only the far end opens connections, so that a lost one cannot be opened again (RFC 7118 §4). */
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
  // RFC 7118 §5.2.1: a URI says `transport=ws` for both; the scheme sips, or the socket itself, tells them apart.
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

/** A place that messages go to and come from. */
export interface Remote {
  readonly transport: Transport
  readonly address: string
  readonly port: number
  /**
   * The domain that the far end must prove by its certificate (RFC 5922 §7.2), for a connection that is opened from
   * here over TLS. A connection that the far end opened has none.
   */
  readonly name?: string
  /**
   * The name that such a far end knows us by: if it requests a certificate, it gets the one with this name. Left out,
   * it gets the first.
   */
  readonly ownName?: string
  /** Set if a trusted HTTP proxy opened the WebSocket for a browser: it may have ended the TLS of the browser. */
  readonly isForwarded?: true
}

/** Returns a place over TLS with the name that it knows us by. */
export function knownAs<T extends Remote>(remote: T, ownName: string | undefined): T {
  return ownName === undefined || remote.name === undefined ? remote : { ...remote, ownName }
}

/** The address and ports that the transports listen on. */
export interface Listening {
  readonly address: string
  /** The port of UDP and TCP. */
  readonly port: number
  /** The ports of the other transports, each with its own. */
  readonly ports?: Readonly<Partial<Record<Transport, number>>>
}

/** Returns the port for a peer of this transport; that of UDP and TCP for a peer that is not known yet. */
export function portFor({ port, ports }: Listening, transport: Transport | undefined): number {
  return (transport === undefined ? undefined : ports?.[transport]) ?? port
}

/** The transport of a sip URI without a transport parameter: RFC 3263 §4.1. */
export const defaultTransport: Transport = 'udp'
/** The transport for a request that is too large for a datagram: RFC 3261 §18.1.1. */
export const largeRequestTransport: Transport = 'tcp'

/** The transport of a sips URI, by the transport that it names: RFC 3261 §26.2.2, RFC 7118 §5.2.1. */
const secureTransports: Readonly<Partial<Record<Transport, Transport>>> = {
  tcp: 'tls',
  tls: 'tls',
  ws: 'wss',
  wss: 'wss',
}

/** Returns the transport of a URI; undefined for one that is not served, or that a sips URI cannot use. */
export function transportOf(scheme: 'sip' | 'sips', parameter: string | undefined): Transport | undefined {
  if (scheme === 'sip') return toTransport(parameter ?? defaultTransport)
  const named = toTransport(parameter ?? 'tls')
  return named && secureTransports[named]
}

export function isReliable({ transport }: { readonly transport: Transport }): boolean {
  return transports[transport].isReliable
}

/** Returns the transport with this name, in any case; undefined for one that is not served. */
export function toTransport(name: string): Transport | undefined {
  const lower = name.toLowerCase()
  return isTransport(lower) ? lower : undefined
}

export function isTransport(name: string): name is Transport {
  return Object.hasOwn(transports, name)
}

export interface HostPort {
  readonly host: string
  readonly port: number
}

/** A far end, as far as our address depends on it: each transport may have its own port. */
export type Peer = Pick<Remote, 'address'> & Partial<Pick<Remote, 'transport'>>
