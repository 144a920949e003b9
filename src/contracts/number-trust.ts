// Whether the calling number of a call is proven (STIR/SHAKEN: RFC 8224, RFC 8225, RFC 8588): what is asked, and what is found.

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

/** By the names of hook payloads and call records. An alias: the journal has it as a plain record. */
export type IdentityFinding = {
  /** As the parameter of that name: proven; disproven; not decided. */
  readonly verstat: 'TN-Validation-Passed' | 'TN-Validation-Failed' | 'No-TN-Validation'
  /** What the signer attests. Only where it is proven that it does. */
  readonly attest?: Attestation
  /** What the signer calls the origin of the call, for a complaint. */
  readonly origid?: string
  /** Why it is not proven. */
  readonly code?: IdentityCode
  readonly reason?: string
}

export interface IdentityQuestion {
  /** The values of the Identity headers; one at least. */
  readonly identities: readonly string[]
  readonly calling: string
  /** One of them must be signed. */
  readonly called: readonly string[]
}

export interface IdentityStatement {
  readonly calling: string
  readonly called: string
  readonly attest: Attestation
  /** The account that calls. The header does not show it. */
  readonly account_sid: string
}

/** The values of two headers: RFC 8224 §4.1 wants the time of what is signed in Date as well. */
export interface SignedIdentity {
  readonly identity: string
  readonly date: string
}

export interface NumberTrust {
  /** Within three seconds. Never rejects. */
  verify(question: IdentityQuestion): Promise<IdentityFinding>
  /** Undefined where nothing is signed: no key is set, or it is no telephone number. */
  sign(statement: IdentityStatement): SignedIdentity | undefined
}
