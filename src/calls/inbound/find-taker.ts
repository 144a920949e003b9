// The decision what takes a call whose caller is known: the limits first, then the rules. A dry run uses it too, with a
// journal of its own.
import { holdToLimits } from '../leg/hold-to-limits.ts'
import type { Leg } from '../leg/leg.ts'
import type { Refusal } from '../journal/refusals.ts'
import { toDecision } from '../journal/decision.ts'
import { noTeamsApplication } from './identify-teams.ts'
import type { Identity } from './identity.ts'
import { refusePassages, refuseReturned } from './returned-call.ts'
import { routeCall, type CallTarget } from './route-call.ts'
import type { InboundNeeds } from './needs.ts'

export interface Taking {
  /** A dry run has a journal only. */
  readonly leg: Pick<Leg, 'journal'> & Partial<Pick<Leg, 'hasEnded' | 'passages'>>
  readonly needs: Pick<InboundNeeds, 'directory' | 'sip' | 'pool' | 'registry'>
  /** Checks of the caller that are made after the limits. A dry run has none. */
  readonly beforeRouting?: () => Promise<void>
}

export type Taker =
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  | { readonly kind: 'taken'; readonly target: CallTarget }
  /** The caller has given up meanwhile. */
  | { readonly kind: 'over' }

/** Throws AppError if a rule refuses the call. */
export async function findTaker(
  { account, origin }: Extract<Identity, { kind: 'known' }>,
  { leg, needs, beforeRouting }: Taking,
): Promise<Taker> {
  const isOver = (): boolean => leg.hasEnded === true
  const limits = await needs.directory.callLimits(account)
  const refusal = holdToLimits(leg, limits, { before: needs.registry.before(leg), pool: needs.pool })
  if (refusal !== undefined) return { kind: 'refused', refusal }
  if (isOver()) return { kind: 'over' }
  refusePassages(leg)
  refuseReturned(leg, needs.registry)
  await beforeRouting?.()
  if (isOver()) return { kind: 'over' }
  if (origin.kind === 'teams' && origin.tenant.application_sid === null) {
    leg.journal.note(toDecision({ rule: 'teams-no-application', outcome: 'refused', code: 'no_application' }))
    return { kind: 'refused', refusal: noTeamsApplication() }
  }
  return { kind: 'taken', target: await routeCall(leg.journal, account, origin, needs) }
}
