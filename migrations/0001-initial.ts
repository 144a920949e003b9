// The schema of the first release. The same statements run on SQLite and PostgreSQL: text ids, epoch milliseconds as bigint,
// flags as 0 or 1, JSON as text.
import type { Kysely } from 'kysely'
import { createAuditLog } from './0001/audit-log.ts'
import { createCallCounts } from './0001/call-counts.ts'
import { createCalls } from './0001/calls.ts'
import { createCarrierRegistrations } from './0001/carrier-registrations.ts'
import { createCarriers } from './0001/carriers.ts'
import { createDefence } from './0001/defence.ts'
import { createPeople } from './0001/people.ts'
import { createPlatform } from './0001/platform.ts'
import { createRecordings } from './0001/recordings.ts'
import { createRouting } from './0001/routing.ts'
import { createSpeech } from './0001/speech.ts'
import { createTenants } from './0001/tenants.ts'

export async function up(db: Kysely<unknown>): Promise<void> {
  await createTenants(db)
  await createPeople(db)
  await createCarriers(db)
  await createRouting(db)
  await createSpeech(db)
  await createPlatform(db)
  await createDefence(db)
  await createCalls(db)
  await createCarrierRegistrations(db)
  await createCallCounts(db)
  await createRecordings(db)
  await createAuditLog(db)
}
