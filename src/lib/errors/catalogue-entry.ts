// The shape of an entry in the catalogue of errors.

export interface CatalogueEntry {
  /** The status of an HTTP reply. */
  readonly http: number
  /** The status of a SIP response. */
  readonly sip?: number
  /** The cause of the error. */
  readonly cause: string
  /** The steps that the reader can take. */
  readonly cure: string
}
