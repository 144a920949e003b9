// The facts about the asserted identity of a caller.
import type { IdentityFinding } from '../../contracts/number-trust.ts'

/** The Identity header of the INVITE was checked. */
export type IdentityCheckedFact = IdentityFinding & { readonly type: 'identity-checked' }
