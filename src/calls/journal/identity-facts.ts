// Facts of who is said to call.
import type { IdentityFinding } from '../../contracts/number-trust.ts'

/** The Identity header of the INVITE was looked at. */
export type IdentityCheckedFact = IdentityFinding & { readonly type: 'identity-checked' }
