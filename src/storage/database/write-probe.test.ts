import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createMigratedDatabase } from '../../../test/support/postgres-databases.ts'
import { postgresUrl, runOn } from '../../../test/support/postgres-server.ts'
import { isMissing } from '../../../test/support/tools.ts'
import { until } from '../../../test/support/wait.ts'
import { systemClock } from '../../lib/clock.ts'
import { createFakeClock } from '../../../test/support/fake-clock.ts'
import { silentLogger } from '../../lib/log.ts'
import { createStorage } from '../create-storage.ts'
import { createWriteProbe } from './write-probe.ts'

describe('whether writing works', () => {
  it('is checked by at most one write a second, however many callers ask', async () => {
    const clock = createFakeClock()
    let writes = 0
    const write = (): Promise<void> => {
      writes++
      return Promise.resolve()
    }
    const { trouble } = createWriteProbe({ write, clock, log: silentLogger })
    expect(await Promise.all([trouble(), trouble(), trouble()])).toEqual([undefined, undefined, undefined])
    clock.advance(999)
    await trouble()
    expect(writes).toBe(1)
    clock.advance(1)
    await trouble()
    expect(writes).toBe(2)
  })

  it('is in trouble while a write gets no response, and no second write is started beside it', async () => {
    const clock = createFakeClock()
    const hung = Promise.withResolvers<void>()
    let writes = 0
    const write = (): Promise<void> => (++writes === 1 ? hung.promise : Promise.resolve())
    const { trouble } = createWriteProbe({ write, clock, log: silentLogger })
    const first = trouble()
    clock.advance(3000)
    expect(await first).toBe('database_unavailable')
    expect(await trouble()).toBe('database_unavailable')
    expect(writes).toBe(1)
    hung.resolve()
    await until('it to be asked again', async () => {
      clock.advance(1000)
      return (await trouble()) === undefined
    })
    expect(writes).toBe(2)
  })

  it.skipIf(isMissing('postgres'))(
    'is in trouble while PostgreSQL only reads, and fine when it can write again',
    async () => {
      const database = await createMigratedDatabase()
      const dataDir = await mkdtemp(join(tmpdir(), 'switchhook-probe-'))
      const clock = { ...systemClock, monotonic: () => (elapsed += 1000) }
      let elapsed = 0
      const storage = createStorage({ dataDir, databaseUrl: database.url, clock, log: silentLogger })
      /** Behaves like a server that has become a standby: open connections end, and new ones may only read. */
      const setReadOnly = async (value: 'on' | 'off'): Promise<void> => {
        const elsewhere = postgresUrl(database.folder, 'postgres')
        await runOn(elsewhere, `alter database ${database.name} set default_transaction_read_only = ${value}`)
        await runOn(
          elsewhere,
          `select pg_terminate_backend(pid) from pg_stat_activity
           where datname = '${database.name}' and application_name like 'switchhook%'`,
        )
      }
      try {
        await storage.start()
        expect(await storage.writeTrouble()).toBeUndefined()
        await setReadOnly('on')
        await until('writing to fail', async () => (await storage.writeTrouble()) === 'database_unavailable')
        expect(await storage.for({ level: 'system' }).service_providers.count()).toBe(0)
        await setReadOnly('off')
        await until('writing to work again', async () => (await storage.writeTrouble()) === undefined)
      } finally {
        await storage.stop()
        await database.remove()
        await rm(dataDir, { recursive: true })
      }
    },
  )
})
