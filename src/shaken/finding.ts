// The reason why a calling number is not proven: a code, its effect on the call, and a sentence.
import type { IdentityCode, IdentityFinding } from '../contracts/number-trust.ts'

// Faults of the signer or on the way of the call disprove the number; faults of this side, or an unreachable server,
// do not.
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
