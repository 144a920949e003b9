// What the catalogue of errors says of each code.

export interface CatalogueEntry {
  /** The status of an HTTP reply. */
  readonly http: number
  /** The status of a SIP response. */
  readonly sip?: number
  /** What causes it. */
  readonly cause: string
  /** What the reader can do about it. */
  readonly cure: string
}
