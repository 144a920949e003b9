import { readFile, stat } from 'node:fs/promises'
import { DatabaseSync } from 'node:sqlite'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { systemTenancy } from '../contracts/caller.ts'
import { systemClock } from '../lib/clock.ts'
import { silentLogger } from '../lib/log.ts'
import { createStorage } from './create-storage.ts'
import { openTestStorage, type TestStorage } from '../../test/support/each-store.ts'

let test: TestStorage
afterEach(() => test.close())

describe('the start', () => {
  const start = (dataDir: string, more: object = {}): Promise<void> =>
    createStorage({ dataDir, clock: systemClock, log: silentLogger, ...more }).start()

  it('is refused with a sentence when the key is not the one of the database', async () => {
    test = await openTestStorage()
    await test.storage.stop()
    await expect(start(test.dataDir, { secretKey: 'ab'.repeat(32) })).rejects.toThrow(
      /key does not open the secrets of this database/,
    )
  })

  it('is refused with a sentence when a newer version has used the database, which stays as it was', async () => {
    test = await openTestStorage()
    await test.storage.stop()
    const file = new DatabaseSync(join(test.dataDir, 'switchhook.db'))
    file.exec("insert into kysely_migration values ('9999-from-the-future', '2030-01-01')")
    file.close()
    await expect(start(test.dataDir)).rejects.toThrow(/newer version of Switchhook .*9999-from-the-future/)
  })

  it('is refused with a sentence that holds no password when PostgreSQL does not answer', async () => {
    test = await openTestStorage()
    const failure = start(test.dataDir, { databaseUrl: 'postgres://u:pass-word@127.0.0.1:1/x' })
    await expect(failure).rejects.toThrow(/PostgreSQL does not answer .*correct SWITCHHOOK_DATABASE_URL/)
    await expect(failure).rejects.not.toThrow(/pass-word/)
  })

  it('finds everything again, and stop can be called twice', async () => {
    test = await openTestStorage()
    await test.storage.for(systemTenancy).settings.insert({ name: 'a', value: 'b' })
    await test.reopen()
    expect((await test.storage.for(systemTenancy).settings.find('a'))?.value).toBe('b')
    await test.storage.stop()
    await test.storage.stop()
    await expect(test.storage.for(systemTenancy).accounts.list()).rejects.toThrow('storage is not running')
  })

  it('makes files that only their owner can read', async () => {
    test = await openTestStorage()
    for (const file of ['switchhook.db', 'switchhook.db-wal', 'secret.key'])
      expect((await stat(join(test.dataDir, file))).mode & 0o077, file).toBe(0)
  })

  it('leaves one file behind after a stop: the log has been copied', async () => {
    test = await openTestStorage()
    await test.storage.for(systemTenancy).settings.insert({ name: 'a', value: 'b' })
    await test.storage.stop()
    await expect(readFile(join(test.dataDir, 'switchhook.db-wal'))).rejects.toThrow('ENOENT')
  })
})
