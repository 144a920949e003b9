import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createMigratedDatabase, type TestDatabase } from '../../../test/support/postgres-databases.ts'
import { isMissing } from '../../../test/support/tools.ts'
import { until } from '../../../test/support/wait.ts'
import { systemTenancy } from '../../contracts/caller.ts'
import { createFakeClock, type FakeClock } from '../../../test/support/fake-clock.ts'
import { silentLogger } from '../../lib/log.ts'
import { createStorage } from '../create-storage.ts'
import type { Storage } from '../storage.ts'

const lookMs = 250

describe.skipIf(isMissing('postgres'))('a change by another node', () => {
  let database: TestDatabase
  let folder: string
  let here: Storage
  let there: Storage
  let clock: FakeClock

  beforeEach(async () => {
    database = await createMigratedDatabase()
    folder = await mkdtemp(join(tmpdir(), 'switchhook-changes-'))
    clock = createFakeClock(Date.now())
    const make = (): Storage =>
      createStorage({ dataDir: folder, databaseUrl: database.url, clock, log: silentLogger })
    there = make()
    here = make()
    await there.start()
    await here.start()
  })
  afterEach(async () => {
    await here.stop()
    await there.stop()
    await database.remove()
    await rm(folder, { recursive: true })
  })

  const webhooks = () => there.for(systemTenancy).webhooks
  const addHook = () => webhooks().insert({ url: 'https://a.example', method: 'POST' })

  interface Seen {
    readonly any: number
    readonly webhooks: number
    readonly knownWebhooks: number
    readonly clients: number
  }

  const seen = (): Seen => ({
    any: here.revision(),
    webhooks: here.revision(['webhooks']),
    knownWebhooks: here.revisionOfKnown(['webhooks']),
    clients: here.revision(['clients']),
  })

  /** Waits until the next poll has reported the change. */
  async function look(before: Seen): Promise<Seen> {
    clock.advance(lookMs)
    await until('the change to be seen', () => here.revision() > before.any)
    return seen()
  }

  it('raises the revision of its table here, and of no other', async () => {
    const before = seen()
    const { webhook_sid } = await addHook()
    const made = await look(before)
    expect([made.webhooks > before.webhooks, made.clients > before.clients]).toEqual([true, false])
    expect(made.knownWebhooks).toBe(before.knownWebhooks)
    await webhooks().remove(webhook_sid)
    const removed = await look(made)
    expect(removed.knownWebhooks).toBeGreaterThan(made.knownWebhooks)
    expect(removed.clients).toBe(before.clients)
  })

  it('counts as a change of everything when there are more changes than can be reported', async () => {
    const before = seen()
    for (let n = 0; n < 250; n++) await addHook()
    const after = await look(before)
    expect(after.clients).toBeGreaterThan(before.clients)
    // Later changes are reported one by one again.
    const { webhook_sid } = await addHook()
    const next = await look(after)
    expect([next.webhooks > after.webhooks, next.clients > after.clients]).toEqual([true, false])
    await webhooks().remove(webhook_sid)
  })

  it('may have been missed while changes cannot be read: rows read before count as out of date', async () => {
    await database.query('alter table audit_log rename to audit_log_away')
    // The last poll is still recent enough to be trusted.
    expect(seen()).toEqual(seen())
    clock.advance(1000)
    const before = seen()
    const after = seen()
    for (const name of ['any', 'webhooks', 'knownWebhooks', 'clients'] as const)
      expect(after[name], name).toBeGreaterThan(before[name])
    await database.query('alter table audit_log_away rename to audit_log')
    await until('it to be read again', () => {
      clock.advance(lookMs)
      return seen().any === seen().any
    })
  })
})

describe('on the embedded database', () => {
  it('no other process changes anything, and the revision stays however long nothing is written', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'switchhook-changes-'))
    const clock = createFakeClock(Date.now())
    const storage = createStorage({ dataDir, clock, log: silentLogger })
    await storage.start()
    const before = storage.revision()
    clock.advance(3_600_000)
    expect(storage.revision()).toBe(before)
    await storage.stop()
    await rm(dataDir, { recursive: true })
  })
})
