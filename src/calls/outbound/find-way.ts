// The steps that find the places for an outbound call: guard, limits and search, in this order. A dry run takes the
// same steps, with a journal of its own, and is not counted.
import { AppError } from '../../lib/errors.ts'
import { holdToLimits } from '../leg/hold-to-limits.ts'
import type { Leg } from '../leg/leg.ts'
import type { Refusal } from '../journal/refusals.ts'
import type { AttemptGate } from './attempt-gate.ts'
import type { Round } from './attempt.ts'
import type { CallOrder } from './call-order.ts'
import { findAttempts } from './find-attempts.ts'
import type { OutboundNeeds } from './needs.ts'

export interface Way {
  readonly leg: Pick<Leg, 'journal'>
  readonly order: CallOrder
  readonly needs: OutboundNeeds
  /** Throws AppError if the guard does not permit the call. */
  readonly admit: () => Promise<void>
  readonly gate: Pick<AttemptGate, 'open'>
}

export type FoundWay =
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  | { readonly kind: 'rounds'; readonly rounds: readonly Round[] }

/** Returns the places, or the refusal by a limit. Throws AppError when there is no place to try. */
export async function findWay({ leg, order, needs, admit, gate }: Way): Promise<FoundWay> {
  if (order.maxForwards === 0)
    throw new AppError('too_many_hops', 'the call has passed through too many places')
  await admit()
  const limits = await needs.directory.callLimits(order.account)
  const refusal = holdToLimits(leg, limits, { before: needs.registry.before(leg), pool: needs.pool })
  if (refusal !== undefined) return { kind: 'refused', refusal }
  const found = await findAttempts({ order, needs, journal: leg.journal })
  return { kind: 'rounds', rounds: await gate.open(found) }
}
