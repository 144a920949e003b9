// Batches that are written in the moment in which a commit ends: some of its callers go on before the store itself does.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createFakeClock } from '../../../test/support/fake-clock.ts'
import { until } from '../../../test/support/wait.ts'
import type { CallBatch } from '../../contracts/call-record.ts'
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
let afterCommit: (() => void) | undefined

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'switchhook-after-commit-'))
  database = await openSqlite({ path: join(folder, 'test.db'), clock, log, migrate })
  const told: Database = {
    ...database,
    async commitBeside(work) {
      const result = await database.commitBeside(work)
      afterCommit?.()
      afterCommit = undefined
      return result
    },
  }
  const vault = createLateVault()
  vault.open(Buffer.alloc(32, 1))
  const reserve = { refusal: () => undefined, holdsCalls: false }
  const lease = createNodeLease({ database, place: { name: undefined }, clock, log })
  calls = createCallStore({ database: told, lease, reserve, vault, clock, log })
})
afterEach(async () => {
  await calls.stop()
  await database.close()
  await rm(folder, { recursive: true })
})

/** Runs the work after the given number of steps of the microtask queue. */
function inSteps(steps: number, work: () => void): void {
  if (steps === 0) work()
  else queueMicrotask(() => inSteps(steps - 1, work))
}

function begun(): CallBatch {
  const events = [{ seq: 1, at: 1, type: 'started' }]
  return { call_sid: createSid(), account_sid: createSid(), events, notifications: [] }
}

const isStored = async ({ call_sid }: CallBatch): Promise<boolean> => {
  clock.advance(100)
  return (await database.reader.all('select 1 from open_calls where call_sid = ?', [call_sid])).length > 0
}

describe('a batch that is written when a commit ends', () => {
  it.each([...Array(16).keys()])('is committed soon, %i steps after the commit', async (steps) => {
    const late = begun()
    afterCommit = () => inSteps(steps, () => calls.write(late, 'now'))
    calls.write(begun(), 'now')
    await until('the late batch to be stored', () => isStored(late))
    expect(await isStored(late)).toBe(true)
  })

  it.each([...Array(16).keys()])('can be flushed, %i steps after the commit', async (steps) => {
    const late = begun()
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    afterCommit = () =>
      inSteps(steps, () => {
        calls.write(late, 'now')
        calls.flush().then(resolve, reject)
      })
    calls.write(begun(), 'now')
    await promise
    expect(await isStored(late)).toBe(true)
  })
})
