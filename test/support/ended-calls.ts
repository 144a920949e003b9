// Ended calls for tests, in the form in which the engine hands them over.
import { createSid } from '../../src/lib/ids.ts'
import type { CallBatch, RecentCall } from '../../src/contracts/call-record.ts'
import type { TestAccount, TestStorage } from './each-store.ts'

export type EndedCall = CallBatch & { readonly record: RecentCall }

export function endedCall(
  { account_sid, service_provider_sid }: Pick<TestAccount, 'account_sid' | 'service_provider_sid'>,
  facts: Partial<RecentCall> & Pick<RecentCall, 'attempted_at'>,
): EndedCall {
  const call_sid = createSid()
  const record: RecentCall = {
    account_sid,
    service_provider_sid,
    application_sid: null,
    call_sid,
    sip_call_id: `${call_sid}@host`,
    sip_parent_call_id: null,
    parent_call_sid: null,
    from: '+4930100',
    to: '+4930200',
    direction: 'inbound',
    answered: true,
    sip_status: 200,
    duration: 10,
    answered_at: null,
    terminated_at: facts.attempted_at + 10_000,
    termination_reason: 'caller hungup',
    host: 'h',
    remote_host: 'r',
    trunk: 'user',
    trace_id: '0'.repeat(32),
    recording_url: null,
    attempts: null,
    stir_shaken: null,
    failure: null,
    media_failure: null,
    ...facts,
  }
  return { call_sid, account_sid, events: [{ seq: 1, at: 1, type: 'x' }], notifications: [], record }
}

/** Returns the counts that triggers keep and the counts of the existing records: a line for each owner and span. */
export async function callCounts({
  query,
}: Pick<TestStorage, 'query'>): Promise<{ readonly kept: string[]; readonly counted: string[] }> {
  const kinds = ['inbound_answered', 'inbound_unanswered', 'outbound_answered', 'outbound_unanswered']
  const key = ['owner_sid', 'span_ms', 'starts_at', 'service_provider_sid']
  const kept = await query('select * from recent_call_counts')
  const counted = new Map<string, Record<string, number>>()
  const records = await query(
    'select account_sid, service_provider_sid, attempted_at, direction, answered from recent_calls',
  )
  for (const { account_sid, service_provider_sid, attempted_at, direction, answered } of records) {
    const kind = `${String(direction)}_${Number(answered) === 1 ? 'answered' : 'unanswered'}`
    for (const owner of [account_sid, service_provider_sid])
      for (const spanMs of [3_600_000, 86_400_000]) {
        const startsAt = Math.floor(Number(attempted_at) / spanMs) * spanMs
        const name = [owner, spanMs, startsAt, service_provider_sid].join(' ')
        const counts = counted.get(name) ?? Object.fromEntries(kinds.map((each) => [each, 0]))
        counted.set(name, { ...counts, [kind]: (counts[kind] ?? 0) + 1 })
      }
  }
  const line = (name: string, counts: Record<string, unknown>): string =>
    [name, ...kinds.map((kind) => Number(counts[kind]))].join(' ')
  return {
    kept: kept.map((row) => line(key.map((column) => String(row[column])).join(' '), row)).sort(),
    counted: [...counted].map(([name, counts]) => line(name, counts)).sort(),
  }
}
