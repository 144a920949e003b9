// Writes of calls whose commit succeeds although it reports a failure, as when the connection breaks at that moment.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createFakeClock } from '../../../test/support/fake-clock.ts'
import type { CallBatch, LaterFact } from '../../contracts/call-record.ts'
import { createSid } from '../../lib/ids.ts'
import { silentLogger } from '../../lib/log.ts'
import type { Database } from '../database/database.ts'
import { migrate } from '../database/migrate.ts'
import { createNodeLease } from '../nodes/node-lease.ts'
import { createLateVault } from '../secrets.ts'
import { openSqlite } from '../sqlite/sqlite.ts'
import { createCallStore, type StoredCalls } from './call-store.ts'

const clock = createFakeClock()
const log = silentLogger
let folder: string
let database: Database
let calls: StoredCalls
let isBreaking: boolean

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'switchhook-outcome-'))
  database = await openSqlite({ path: join(folder, 'test.db'), clock, log, migrate })
  isBreaking = false
  const breaking: Database = {
    ...database,
    async commitBeside(work) {
      const result = await database.commitBeside(work)
      if (!isBreaking) return result
      isBreaking = false
      throw new Error('the connection broke')
    },
  }
  const vault = createLateVault()
  vault.open(Buffer.alloc(32, 1))
  const reserve = { refusal: () => undefined, holdsCalls: false }
  const lease = createNodeLease({ database, place: { name: undefined }, clock, log })
  calls = createCallStore({ database: breaking, lease, reserve, vault, clock, log })
})
afterEach(async () => {
  await calls.stop()
  await database.close()
  await rm(folder, { recursive: true })
})

const call_sid = createSid()
const account_sid = createSid()
const hook = { url: 'http://app/status', method: 'POST', username: null, password: null } as const
const fact: LaterFact = { at: 2, type: 'recording-stored', place: 'bucket', bytes: 5 }

describe('a write that was committed although it failed', () => {
  it.each<[string, Pick<CallBatch, 'events' | 'later'>]>([
    ['the events of a call', { events: [{ seq: 2, at: 2, type: 'ended' }] }],
    ['what became of its recording', { events: [], later: [fact] }],
  ])('is not repeated, with its notification: %s', async (_, facts) => {
    const batch = { call_sid, account_sid, notifications: [] }
    calls.write({ ...batch, events: [{ seq: 1, at: 1, type: 'started' }] }, 'now')
    await calls.flush()
    isBreaking = true
    const notifications = [{ account_sid, call_sid, hook, payload: {} }]
    calls.write({ ...batch, ...facts, notifications }, 'now')
    await expect(calls.flush()).rejects.toThrow('could not be written')
    await calls.flush()
    expect(await database.reader.all('select id from outbox', [])).toHaveLength(1)
  })
})
