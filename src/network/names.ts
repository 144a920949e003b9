// The types of look-ups of host names.

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
   * At least one address, those of IPv4 first; an address is its own. Rejects with an Error whose code is ENOTFOUND, or
   * EAI_AGAIN where no server said so; with AppError overloaded when too much is being asked already.
   */
  readonly lookup: (host: string) => Promise<readonly ResolvedAddress[]>
  /** The TXT records of a name, always asked for: none where it has none. Rejects as `lookup` does. */
  readonly texts: (name: string) => Promise<readonly string[]>
  /** The SRV records of a name: none where it has none, or no server says so in time. Kept for a minute, an absence for less. */
  readonly services: (name: string) => Promise<readonly ServiceRecord[]>
  /** The NAPTR records of a name, likewise. */
  readonly pointers: (name: string) => Promise<readonly PointerRecord[]>
  /** Whether this machine knows the name by itself: no records of other kinds are asked for then. */
  readonly isOfMachine: (host: string) => Promise<boolean>
  /** Gives up what is still being asked. Idempotent. */
  close(): void
}
