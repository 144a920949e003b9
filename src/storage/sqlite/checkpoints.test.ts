import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createFakeClock } from '../../../test/support/fake-clock.ts'
import { silentLogger } from '../../lib/log.ts'
import { write, type Database } from '../database/database.ts'
import { openConnection, type Connection } from './sqlite-connection.ts'
import { openSqlite } from './sqlite.ts'

const pageBytes = 4096

let dataDir: string
let path: string
let database: Database
let watcher: Connection
const clock = createFakeClock()

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'switchhook-log-'))
  path = join(dataDir, 'test.db')
  database = await openSqlite({
    path,
    clock,
    log: silentLogger,
    migrate: (db) =>
      db.schema
        .createTable('blobs' as never)
        .addColumn('text', 'text')
        .execute(),
  })
  watcher = openConnection({ path, readOnly: true, synchronous: 'NORMAL' })
})
afterEach(async () => {
  watcher.close()
  await database.close()
  // The file disappears with the last connection, so those of the threads are closed too.
  await expect(stat(`${path}-wal`)).rejects.toThrow('ENOENT')
  await rm(dataDir, { recursive: true })
})

const insert = (pages: number): Promise<unknown> =>
  write(database, (session) => session.all('insert into blobs values (?)', ['x'.repeat(pages * pageBytes)]))

/** Returns how often the log was started over: the database thread counts it. */
const restarts = (): number => Number(watcher.all('PRAGMA user_version', [])[0]?.['user_version'])

const pagesBehind = (): number => {
  const [row] = watcher.all('PRAGMA wal_checkpoint(NOOP)', [])
  return Number(row?.['log']) - Number(row?.['checkpointed'])
}

/** Lets the due checkpoint run, with writers active at the same time. */
async function runDue(expected: number): Promise<void> {
  clock.advance(500)
  while (restarts() < expected) await insert(1)
}

describe('the write-ahead log', () => {
  it('is left alone while it is short', async () => {
    for (let n = 0; n < 50; n++) await insert(10)
    clock.advance(10_000)
    expect(restarts()).toBe(0)
  })

  it('is copied and started over once it is long, in place, while writers go on', async () => {
    for (let n = 0; n < 120; n++) await insert(10)
    await runDue(1)
    expect(pagesBehind()).toBeLessThan(1000)
    const { size } = await stat(`${path}-wal`)
    for (let n = 0; n < 80; n++) await insert(10)
    expect((await stat(`${path}-wal`)).size).toBe(size)
    for (let n = 0; n < 60; n++) await insert(10)
    await runDue(2)
    const [row] = await database.reader.all('select count(*) as n from blobs where length(text) > 4096', [])
    expect(row?.['n']).toBe(260)
  })

  it('is cut when one burst has made it very long', async () => {
    await insert(17_000)
    await runDue(1)
    expect((await stat(`${path}-wal`)).size).toBeLessThan(4_000_000)
  })
})

describe('a transaction that waits for something else than its statements', () => {
  it('is ended, and the next one runs', async () => {
    const stuck = database.commit(() => new Promise<void>(() => undefined))
    const next = insert(1)
    await new Promise((resolve) => setImmediate(resolve))
    clock.advance(30_000)
    await expect(stuck).rejects.toThrow(/waited for something/)
    await next
  })
})

describe('the slow reader', () => {
  it('answers from its own thread what the writer has committed', async () => {
    await insert(1)
    expect(await database.slowReader.all('select count(*) as n from blobs', [])).toEqual([{ n: 1 }])
    await expect(database.slowReader.all('select * from nowhere', [])).rejects.toThrow(/no such table/)
  })

  it('cannot write', async () => {
    for (const reader of [database.reader, database.slowReader])
      await expect(reader.all("insert into blobs values ('x')", [])).rejects.toThrow(/readonly/)
  })
})
