// The verification of the calling number of a call (STIR/SHAKEN: RFC 8224, RFC 8225, RFC 8588): the question and the
// finding.

/** A: the signer knows the caller and its right to the number. B: it knows the caller. C: it knows neither. */
export type Attestation = 'A' | 'B' | 'C'

export type IdentityCode =
  | 'no_trust_list'
  | 'identity_malformed'
  | 'identity_unsupported'
  | 'identity_stale'
  | 'identity_of_other_numbers'
  | 'certificate_unavailable'
  | 'certificate_not_trusted'
  | 'signature_wrong'

/** With the names of hook payloads and call records. An alias, as the journal has a plain record. */
export type IdentityFinding = {
  /** The value of the verstat parameter: proven, disproven, or not decided. */
  readonly verstat: 'TN-Validation-Passed' | 'TN-Validation-Failed' | 'No-TN-Validation'
  /** The attestation, set only if the signature is proven. */
  readonly attest?: Attestation
  /** The signer's identifier of the call's origin, for complaints. */
  readonly origid?: string
  /** The reason why the number is not proven. */
  readonly code?: IdentityCode
  readonly reason?: string
}

export interface IdentityQuestion {
  /** The values of the Identity headers, at least one. */
  readonly identities: readonly string[]
  readonly calling: string
  /** One of these numbers must be signed. */
  readonly called: readonly string[]
}

export interface IdentityStatement {
  readonly calling: string
  readonly called: string
  readonly attest: Attestation
  /** The calling account. The header does not show it. */
  readonly account_sid: string
}

/** The values of two headers. RFC 8224 §4.1 requires the time of the signature in Date as well. */
export interface SignedIdentity {
  readonly identity: string
  readonly date: string
}

export interface NumberTrust {
  /** Resolves within three seconds. Never rejects. */
  verify(question: IdentityQuestion): Promise<IdentityFinding>
  /** Returns undefined if no key is set, or the number is not a telephone number. */
  sign(statement: IdentityStatement): SignedIdentity | undefined
}
