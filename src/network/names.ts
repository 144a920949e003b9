// The types of host name look-ups.

export interface ResolvedAddress {
  readonly address: string
  readonly family: 4 | 6
}

/** SRV: RFC 2782. */
export interface ServiceRecord {
  readonly name: string
  readonly port: number
  readonly priority: number
  readonly weight: number
}

/** NAPTR: RFC 3403 §4.1, as far as SIP uses it (RFC 3263 §4.1). */
export interface PointerRecord {
  readonly service: string
  readonly replacement: string
  readonly order: number
  readonly preference: number
}

export interface Names {
  /**
   * Returns at least one address, IPv4 first; for an address, itself. Rejects with an Error whose code is ENOTFOUND,
   * or EAI_AGAIN if no server responded with that; with AppError overloaded when too many look-ups are in progress.
   */
  readonly lookup: (host: string) => Promise<readonly ResolvedAddress[]>
  /** Returns the TXT records of a name, always by a new query; none if it has none. Rejects as `lookup` does. */
  readonly texts: (name: string) => Promise<readonly string[]>
  /**
   * Returns the SRV records of a name; none if it has none or no server responds in time. Kept for a minute; an
   * absence is kept for less.
   */
  readonly services: (name: string) => Promise<readonly ServiceRecord[]>
  /** Returns the NAPTR records of a name, likewise. */
  readonly pointers: (name: string) => Promise<readonly PointerRecord[]>
  /** Reports whether the machine itself defines the name: no records of other types are queried then. */
  readonly isOfMachine: (host: string) => Promise<boolean>
  /** Cancels queries in progress. Idempotent. */
  close(): void
}
