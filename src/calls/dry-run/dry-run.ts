// The prediction of how a call would be handled now, and by which rules. It uses the code of real calls, with a journal
// that is not kept. It sends no packet and no hook, and counts nothing.
import type { AccountFacts } from '../ports.ts'
import { runInbound } from './dry-inbound.ts'
import { runOutbound } from './dry-outbound.ts'
import type { DryQuestion, DryRun } from './dry-question.ts'
import { withoutEffects, type DryNeeds } from './without-effects.ts'

export async function dryRun(account: AccountFacts, question: DryQuestion, real: DryNeeds): Promise<DryRun> {
  const dry = withoutEffects(account, real)
  return question.direction === 'inbound'
    ? runInbound(account, question, dry)
    : runOutbound(account, question, dry)
}
