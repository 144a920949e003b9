// Why a calling number is not proven: a code, what that means for the call, and a sentence.
import type { IdentityCode, IdentityFinding } from '../contracts/number-trust.ts'

// What the signer or the way of the call has done wrong disproves the number; what is missing here, or out of reach, does not.
const undecided: ReadonlySet<IdentityCode> = new Set([
  'no_trust_list',
  'identity_unsupported',
  'certificate_unavailable',
])

export class NotProven extends Error {
  readonly code: IdentityCode

  constructor(code: IdentityCode, reason: string) {
    super(reason)
    this.code = code
  }
}

export function findingOf({ code, message: reason }: NotProven): IdentityFinding {
  return { verstat: undecided.has(code) ? 'No-TN-Validation' : 'TN-Validation-Failed', code, reason }
}
