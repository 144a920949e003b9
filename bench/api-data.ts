// Test data for bench/api.ts, written before a platform starts on the folder: many accounts, applications and records.
import { DatabaseSync } from 'node:sqlite'
import { join } from 'node:path'
import { adminApiKey, adminPassword } from '../test/support/platform-process.ts'
import { systemTenancy } from '../src/contracts/caller.ts'
import { systemClock } from '../src/lib/clock.ts'
import { silentLogger } from '../src/lib/log.ts'
import { createStorage } from '../src/storage/create-storage.ts'
import { firstBoot } from '../src/storage/first-boot.ts'
import type { Repositories } from '../src/storage/storage.ts'

export interface ApiData {
  readonly service_provider_sid: string
  /** An account with 500 applications. */
  readonly middling: string
  /** An account with 30,000 applications. */
  readonly large: string
  /** An account with a million call records. */
  readonly busy: string
}

const accounts = 50

export async function fillApiData(dataDir: string, records: number): Promise<ApiData> {
  const storage = createStorage({ dataDir, clock: systemClock, log: silentLogger })
  await storage.start()
  await firstBoot(storage, { adminPassword, adminApiKey, show: async () => undefined })
  const data = await storage.transaction(systemTenancy, async (rows) => {
    const { service_provider_sid } = await rows.service_providers.insert({ name: 'bench' })
    const sids: string[] = []
    // The first boot has made one account.
    for (let index = 1; index < accounts; index += 1) {
      const name = `account ${index}`
      const account = await rows.accounts.insert({
        name,
        service_provider_sid,
        sip_realm: `a${index}.sip.example.com`,
        webhook_secret: `wh_secret_${index}`,
      })
      sids.push(account.account_sid)
    }
    const [middling = '', large = '', busy = ''] = sids
    return { service_provider_sid, middling, large, busy }
  })
  await storage.transaction(systemTenancy, (rows) => addApplications(rows, data.middling, 500))
  for (let index = 0; index < 30; index += 1)
    await storage.transaction(systemTenancy, (rows) => addApplications(rows, data.large, 1000))
  await storage.stop()
  addRecords(join(dataDir, 'switchhook.db'), data, records)
  return data
}

async function addApplications(rows: Repositories, account_sid: string, count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    const hook = { method: 'POST', account_sid } as const
    const call = await rows.webhooks.insert({ ...hook, url: `https://app.example.com/call/${index}` })
    const status = await rows.webhooks.insert({ ...hook, url: `https://app.example.com/status/${index}` })
    await rows.applications.insert({
      name: `application ${Math.random()}`,
      account_sid,
      call_hook_sid: call.webhook_sid,
      call_status_hook_sid: status.webhook_sid,
    })
  }
}

/** Adds records over ninety days, the newest now. */
function addRecords(path: string, { service_provider_sid, busy }: ApiData, count: number): void {
  const database = new DatabaseSync(path)
  const columns =
    'call_sid, account_sid, service_provider_sid, sip_call_id, "from", "to", direction, answered, sip_status, ' +
    'duration, attempted_at, terminated_at, termination_reason, host, remote_host, trunk, trace_id'
  database.exec('PRAGMA synchronous = OFF; BEGIN')
  database
    .prepare(
      `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
       INSERT INTO recent_calls (${columns})
       SELECT printf('%08x-0000-4000-8000-%012x', i, i), ?, ?, printf('%d@bench', i), '+1555' || i, '+1666' || (i % 5000),
         CASE i % 2 WHEN 0 THEN 'inbound' ELSE 'outbound' END, i % 3 > 0, 200, i % 300, ? - (? - i) * 7776, ? - (? - i) * 7776 + 1000,
         'caller hungup', '127.0.0.1', '127.0.0.1', 'user', printf('%032x', i) FROM n`,
    )
    .run(count, busy, service_provider_sid, Date.now(), count, Date.now(), count)
  database.exec('COMMIT')
  database.close()
}
