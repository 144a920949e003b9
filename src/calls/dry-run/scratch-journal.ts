// A journal that is not kept, and the results that a dry run reads from it.
import { createSid } from '../../lib/ids.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Logger } from '../../lib/log.ts'
import { JournalWriter } from '../journal/journal-writer.ts'
import type { CallStore, RefusalFact, StartedFact } from '../journal/journal.ts'
import { toAppError, toRefusal } from '../journal/refusals.ts'
import type { AccountFacts } from '../ports.ts'
import type { DryRun } from './dry-question.ts'

export type Outcome = Omit<DryRun, 'assumptions'>

/** Returns the result of `decide`, with the decisions that it has noted. */
export async function outcomeOf(
  journal: JournalWriter,
  log: Logger,
  decide: () => Promise<Partial<Outcome> & { refusal?: RefusalFact }>,
): Promise<Outcome> {
  const found = await decide().catch((error: unknown) => ({
    refusal: toRefusal(toAppError(error, log)).fact,
  }))
  const decisions = journal.events.flatMap((event) => (event.type === 'decision' ? [event] : []))
  const nothing = { outcome: 'refused', attempts: [] } as const
  return { ...nothing, ...found, decisions }
}

const nowhere: CallStore = {
  write: () => undefined,
  refusal: () => undefined,
  flush: () => Promise.resolve(),
  adopt: () => Promise.resolve([]),
  watch: () => undefined,
}

export function scratchJournal(started: StartedFact, clock: Clock): JournalWriter {
  return new JournalWriter(started, { store: nowhere, clock, hidesDigits: false })
}

export function toStarted(
  { account_sid, service_provider_sid }: AccountFacts,
  { from, to }: { readonly from: string; readonly to: string },
  direction: StartedFact['direction'],
): StartedFact {
  return {
    type: 'started',
    call_sid: createSid(),
    account_sid,
    service_provider_sid,
    direction,
    from,
    to,
    caller_name: '',
    calling_number: from,
    called_number: to,
    sip_call_id: '',
    trace_id: '',
    host: '',
    local_sip_address: '',
    remote_host: '',
    trunk: '',
    service_url: '',
    attempted_at: 0,
    is_record_disabled: true,
  }
}
