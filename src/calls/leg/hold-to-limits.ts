// Checks a call against the limits of its account and provider, and journals each check.
import { AppError } from '../../lib/errors.ts'
import type { Leg } from './leg.ts'
import type { CallLimits } from '../ports.ts'
import { toRefusal, type Refusal } from '../journal/refusals.ts'
import { checkCallLimits, type CallPool, type CallsBefore } from '../routing/call-limits.ts'
import { toDecision } from '../journal/decision.ts'

/** Returns the refusal if a limit is reached. In the journal it is the last of the decisions. */
export function holdToLimits(
  { journal }: Pick<Leg, 'journal'>,
  limits: CallLimits,
  calls: { readonly before: CallsBefore; readonly pool: CallPool },
): Refusal | undefined {
  for (const { rule, outcome, refusal } of checkCallLimits(limits, calls, journal.facts.started)) {
    const code = refusal === undefined ? {} : { code: refusal.code }
    journal.note(toDecision({ rule, outcome, ...code }))
    if (refusal === undefined) continue
    const { reply, fact } = toRefusal(new AppError(refusal.code, refusal.sentence))
    const headers = [...(reply.headers ?? []), ...refusal.headers]
    return { reply: { ...reply, reason: refusal.sentence, headers }, fact }
  }
  return undefined
}
