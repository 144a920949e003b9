// A registered phone, as the registrar stores it and the API shows it.

export interface RegisteredPhone {
  /** Its address of record (RFC 3261 §10). */
  readonly aor: string
  readonly contact: string
  /** Epoch ms. */
  readonly expiresAt: number
  readonly remote: { readonly transport: string; readonly address: string; readonly port: number }
}
