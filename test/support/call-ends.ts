// Waits for what calls leave behind. A single read comes too early on a busy machine, and a count over the account
// includes what the first try of the test left there.
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { journalOf, recentCalls, type JournalEntry, type RecentCallRecord } from './platform-process.ts'
import type { Api } from './platform-api.ts'
import { until } from './wait.ts'

/** Returns the one record of each of these calls, in their order. */
export async function recordsOf(
  api: Api,
  account_sid: string,
  call_sids: readonly string[],
): Promise<RecentCallRecord[]> {
  return await until(`the records of ${call_sids.join(', ')}`, async () => {
    const all = await recentCalls(api, account_sid, call_sids.length)
    const own = call_sids.map((sid) => all.filter(({ call_sid }) => call_sid === sid))
    if (own.some((records) => records.length > 1)) throw new Error('a call has more than one record')
    const found = own.flat()
    return found.length === call_sids.length ? found : undefined
  })
}

/** Waits until the outbox is empty. What a killed process leaves there is delivered only after a lease of a minute. */
export async function delivered(dataDir: string): Promise<void> {
  const database = new DatabaseSync(join(dataDir, 'switchhook.db'), { readOnly: true })
  try {
    await until(
      'nothing to wait for delivery',
      () => database.prepare('select 1 from outbox').get() === undefined,
    )
  } finally {
    database.close()
  }
}

/** Returns the whole journal of a call that ends: the media's figures come from their own thread, after the record. */
export async function endedJournal(api: Api, account_sid: string, call_sid: string): Promise<JournalEntry[]> {
  return await until(`the end of the journal of ${call_sid}`, async () => {
    const events = await journalOf(api, account_sid, call_sid)
    const has = (wanted: string): boolean => events.some(({ type }) => type === wanted)
    return has('ended') && (!has('media-open') || has('media-closed')) ? events : undefined
  })
}
