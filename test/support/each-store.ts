// Storage for tests over a real database: a file in a temporary folder, or a PostgreSQL server that the tests start.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe } from 'vitest'
import { storePlaces, type StoreName, type StorePlace } from './store-places.ts'
import { isMissing } from './tools.ts'
import { systemTenancy, type Tenancy } from '../../src/contracts/caller.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { silentLogger } from '../../src/lib/log.ts'
import { createStorage } from '../../src/storage/create-storage.ts'
import type { Storage, StorageOptions } from '../../src/storage/storage.ts'

export interface TestStorage extends Pick<StorePlace, 'query' | 'contents'> {
  readonly storage: Storage
  readonly dataDir: string
  /** Stops the storage, if it runs, and starts another over the same data. */
  reopen(options?: Partial<StorageOptions>): Promise<Storage>
  /** Stops the storage and removes the data. */
  close(): Promise<void>
}

export interface TestStore {
  readonly name: StoreName
  readonly open: (options?: Partial<StorageOptions>) => Promise<TestStorage>
}

const onStore = (name: StoreName): TestStore => ({
  name,
  open: (options) => openOver(storePlaces[name], options),
})

/** Declares the tests once for each kind of store. */
export function onEachStore(declare: (store: TestStore) => void): void {
  describe('on SQLite', () => declare(onStore('SQLite')))
  describe.skipIf(isMissing('postgres'))('on PostgreSQL', () => declare(onStore('PostgreSQL')))
}

/** Opens a storage on SQLite, for tests that need only one store. */
export function openTestStorage(options?: Partial<StorageOptions>): Promise<TestStorage> {
  return openOver(storePlaces.SQLite, options)
}

async function openOver(
  makePlace: (dataDir: string) => Promise<StorePlace>,
  options: Partial<StorageOptions> = {},
): Promise<TestStorage> {
  const dataDir = await mkdtemp(join(tmpdir(), 'switchhook-storage-'))
  const place = await makePlace(dataDir)
  const databaseUrl = place.url
  const make = (more: Partial<StorageOptions> = {}): Storage => {
    const { clock = systemClock, ...others } = { ...options, ...more }
    const databaseTime = async (): Promise<number> => clock.now()
    return createStorage({ dataDir, databaseUrl, clock, databaseTime, log: silentLogger, ...others })
  }
  let storage = make()
  await storage.start()
  return {
    get storage() {
      return storage
    },
    dataDir,
    query: (sql) => place.query(sql),
    contents: () => place.contents(),
    async reopen(more) {
      await storage.stop()
      storage = make(more)
      await storage.start()
      return storage
    },
    async close() {
      await storage.stop()
      await place.remove()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

export interface TestAccount {
  readonly account_sid: string
  readonly service_provider_sid: string
  readonly asAccount: Tenancy
  readonly asProvider: Tenancy
}

let made = 0

export async function makeAccount(storage: Storage, service_provider_sid?: string): Promise<TestAccount> {
  const system = storage.for(systemTenancy)
  made++
  const provider =
    service_provider_sid ??
    (await system.service_providers.insert({ name: `provider ${made}` })).service_provider_sid
  const { account_sid } = await system.accounts.insert({
    name: `account ${made}`,
    service_provider_sid: provider,
    webhook_secret: `wh_secret_${made}`,
    sip_realm: `a${made}.example.com`,
  })
  return {
    account_sid,
    service_provider_sid: provider,
    asAccount: { level: 'account', account_sid, service_provider_sid: provider },
    asProvider: { level: 'service_provider', service_provider_sid: provider },
  }
}
