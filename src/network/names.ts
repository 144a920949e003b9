// The types of look-ups of host names.

export interface ResolvedAddress {
  readonly address: string
  readonly family: 4 | 6
}

export interface Names {
  /**
   * At least one address, those of IPv4 first; an address is its own. Rejects with an Error whose code is ENOTFOUND, or
   * EAI_AGAIN where no server said so; with AppError overloaded when too much is being asked already.
   */
  readonly lookup: (host: string) => Promise<readonly ResolvedAddress[]>
  /** The TXT records of a name, always asked for: none where it has none. Rejects as `lookup` does. */
  readonly texts: (name: string) => Promise<readonly string[]>
  /** Gives up what is still being asked. Idempotent. */
  close(): void
}
