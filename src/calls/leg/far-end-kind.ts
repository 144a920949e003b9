// The kind of the far end of a leg, from facts that no tenant chooses: a carrier may be named `user`.
import { teamsTenantOf } from './teams-trunk.ts'
import type { Leg } from './leg.ts'

export type FarEndKind = 'carrier' | 'teams' | 'user' | 'other'

/** Returns `user` for a far end that has authenticated, or that is called where it registered. */
export function farEndKindOf(leg: Pick<Leg, 'journal'>): FarEndKind {
  const { attempt, started } = leg.journal.facts
  if (teamsTenantOf(leg) !== undefined) return 'teams'
  if (attempt === undefined) return started.originating_sip_trunk_name === undefined ? 'user' : 'carrier'
  if (attempt.is_phone === true) return 'user'
  return attempt.sip_gateway_sid === undefined ? 'other' : 'carrier'
}
