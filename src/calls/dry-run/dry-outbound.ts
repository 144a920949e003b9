// What would become of a call that the platform makes.
import { AppError } from '../../lib/errors.ts'
import { createSid, randomHex } from '../../lib/ids.ts'
import type { CallContext } from '../call-context.ts'
import type { CallServices } from '../call-services.ts'
import { AttemptGate } from '../outbound/attempt-gate.ts'
import type { Attempt, Round } from '../outbound/attempt.ts'
import { calledPartyOf } from '../outbound/call-order.ts'
import type { CallOrder } from '../outbound/call-order.ts'
import { findWay } from '../outbound/find-way.ts'
import type { AccountFacts } from '../ports.ts'
import type { DryQuestion, DryRun } from './dry-question.ts'
import { outcomeOf, scratchJournal, toStarted } from './scratch-journal.ts'
import { isLiteral } from './without-effects.ts'

export async function runOutbound(
  account: AccountFacts,
  question: Extract<DryQuestion, { direction: 'outbound' }>,
  { services, registry, admission, guard }: CallContext,
): Promise<DryRun> {
  const { from, to } = question
  const journal = scratchJournal(
    toStarted(account, { from, to: calledPartyOf(to) }, 'outbound'),
    services.clock,
  )
  const order: CallOrder = {
    account,
    from,
    to,
    call_sid: createSid(),
    call_id: randomHex(16),
    application_sid: undefined,
    headers: [],
    ringMs: 0,
    notes: [],
  }
  const leg = { journal }
  const gate = new AttemptGate({ leg, order, guard, services, isDry: true })
  const full = admission.refusal()
  const names: string[] = []
  const outcome = await outcomeOf(journal, services.log, async () => {
    if (!account.is_active) throw new AppError('account_inactive', 'Account exists but is inactive')
    if (full !== undefined) throw full
    const admit = (): Promise<void> => guard.wouldAdmit(leg, account, to)
    const found = await findWay({ leg, order, registry, services, admit, gate })
    if (found.kind === 'refused') return { refusal: found.refusal.fact }
    return { outcome: 'attempts', attempts: await placesOf(found.rounds, services, names) }
  })
  const assumptions = names.map(
    (name) => `${name} has an address that may be called: names are not looked up`,
  )
  return { ...outcome, assumptions }
}

/** Throws AppError where no place is left that may be called. */
async function placesOf(
  rounds: readonly Round[],
  services: CallServices,
  names: string[],
): Promise<DryRun['attempts']> {
  const { host } = services.sip().addressFor()
  const shown = async (attempt: Attempt, round: number) => {
    const { uri } = attempt.invite(host)
    if (attempt.trunk === 'sipUri' && isLiteral(attempt.place)) await attempt.destination()
    else if (attempt.trunk === 'sipUri') names.push(attempt.place)
    return { round, trunk: attempt.trunk, place: attempt.place, request_uri: uri }
  }
  return Promise.all(rounds.flatMap((round, index) => round.map((attempt) => shown(attempt, index + 1))))
}
