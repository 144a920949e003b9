// Makes storage: opens the database, checks the key, hands out repositories and stores.
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { systemTenancy } from '../lib/caller.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError } from '../lib/errors.ts'
import type { Logger } from '../lib/log.ts'
import { createAlertStore } from './alerts.ts'
import type { AlertLog, AlertStore } from './alerts.ts'
import { createAuditLog } from './audit-log.ts'
import type { AuditLog, AuditTrail } from './audit-log.ts'
import { createCallRecords } from './call-records.ts'
import type { CallRecords, Journal, RecentCalls } from './call-records.ts'
import { createCallStore } from './call-store.ts'
import type { CallStore } from './call-store.ts'
import { createChangeFollower } from './change-follower.ts'
import type { ChangeFollower } from './change-follower.ts'
import { createChangeSet } from './change-set.ts'
import { write } from './database.ts'
import type { Database } from './database.ts'
import { createExpiredRows } from './expired-rows.ts'
import type { ExpiredRows } from './expired-rows.ts'
import { createIdempotencyStore } from './idempotency.ts'
import type { IdempotencyStore, RunChange } from './idempotency.ts'
import { migrate } from './migrate.ts'
import { createNodeLease } from './node-lease.ts'
import type { NodeLease } from './node-lease.ts'
import { noPlace, takePlace } from './node-place.ts'
import type { NodePlace } from './node-place.ts'
import { createOutbox } from './outbox.ts'
import type { OutboxStore } from './outbox.ts'
import { nodeNameIn } from './node-name.ts'
import { openPostgres } from './postgres.ts'
import { createRegistrationStore } from './registrations.ts'
import type { RegistrationStore } from './registrations.ts'
import { createRepositoryMaker } from './repository.ts'
import type { RepositoryMaker } from './repository.ts'
import { createRevisions } from './revisions.ts'
import type { ChangedTables } from './revisions.ts'
import { createVault, loadKey } from './secrets.ts'
import type { Vault } from './secrets.ts'
import { openSqlite } from './sqlite.ts'
import type { SqliteOptions } from './sqlite.ts'
import { StartError } from '../lib/start-error.ts'
import { toFileStartError } from './start-failure.ts'
import type { Storage, TableName } from './storage.ts'
import { createWriteProbe } from './write-probe.ts'
import type { WriteProbe } from './write-probe.ts'

export interface StorageOptions {
  readonly dataDir: string
  /** PostgreSQL; the embedded database in dataDir when undefined. */
  readonly databaseUrl?: string | undefined
  /** 64 hex digits; a key file in dataDir when undefined. */
  readonly secretKey?: string | undefined
  readonly clock: Clock
  readonly log: Logger
  /** For tests: replaces the sync of the log file. */
  readonly sync?: SqliteOptions['sync']
}

/** Everything but start and stop may be used only in between. */
export interface PlatformStorage extends Storage {
  /**
   * Rises with each change made through repositories, before its maker is told: what was read earlier may be old. With
   * tables, of those only; rows that go with their owner count as changes of the owner's table, traces of use as none.
   * Changes of other processes are in it within a second; while they cannot be read it rises each time.
   */
  revision(tables?: readonly TableName[]): number
  /** As `revision`, without new rows. */
  revisionOfKnown(tables: readonly TableName[]): number
  /** Whether other processes may change rows too. */
  readonly isShared: boolean
  /** Finds out by writing, once a second at most. */
  canWrite(): Promise<boolean>
  readonly calls: Pick<CallStore, 'write' | 'flush' | 'adopt' | 'watch'>
  readonly outbox: OutboxStore
  readonly journal: Journal
  readonly recentCalls: RecentCalls
  readonly alerts: AlertLog & Pick<AlertStore, 'flush'>
  readonly audit: AuditTrail
  readonly idempotency: IdempotencyStore
  readonly expired: ExpiredRows
  readonly registrations: Omit<RegistrationStore, 'stop'>
  /** Removes up to `limit` call records attempted before `before`, with their journals; returns how many. */
  pruneRecentCalls(before: number, limit: number): Promise<number>
}

interface Opened {
  readonly database: Database
  readonly maker: RepositoryMaker
  readonly expired: ExpiredRows
  readonly calls: CallStore
  readonly outbox: OutboxStore
  readonly records: CallRecords
  readonly audit: AuditLog
  readonly idempotency: IdempotencyStore
  readonly alerts: AlertStore
  readonly lease: NodeLease
  readonly place: NodePlace
  readonly registrations: RegistrationStore
  readonly follower: ChangeFollower
  readonly probe: WriteProbe
}

export function createStorage(options: StorageOptions): PlatformStorage {
  let opened: Opened | undefined
  const revisions = createRevisions()

  /** One transaction, with the entries of the audit log for what it has changed. */
  const change: RunChange = (work, actor) => {
    const { database, audit } = parts()
    const written = write(database, async (session) => {
      const changes = createChangeSet()
      const result = await work(session, changes)
      await audit.append(session, changes.entries(), actor)
      return { result, tables: changes.tables() }
    })
    return written.then(
      ({ result, tables }) => {
        revisions.raise(tables)
        return result
      },
      (error: unknown) => {
        // A failure may have left the change behind.
        revisions.raise(undefined)
        throw error
      },
    )
  }

  function parts(): Opened {
    if (opened === undefined) throw new Error('storage is not running')
    return opened
  }

  /** What others may have changed unheard counts as changed. */
  function demandNews(): void {
    if (opened?.follower.isCurrent === false) revisions.raise(undefined)
  }

  const onChanged = (changed: ChangedTables | undefined): void => revisions.raise(changed)

  const storage: PlatformStorage = {
    name: 'storage',
    revision(tables) {
      demandNews()
      return revisions.of(tables)
    },
    revisionOfKnown(tables) {
      demandNews()
      return revisions.ofKnown(tables)
    },
    isShared: options.databaseUrl !== undefined,
    canWrite: async () => opened !== undefined && opened.probe.canWrite(),
    async start() {
      opened = await openParts(options, change, onChanged).catch((error: unknown) => {
        throw toFileStartError(error, options.dataDir)
      })
      try {
        await checkKey(storage, opened)
        await opened.lease.start()
        await opened.follower.start()
      } catch (error) {
        await storage.stop()
        throw error
      }
    },
    async stop() {
      if (opened === undefined) return
      const { calls, alerts, database, registrations, lease, place, follower } = opened
      await follower.stop()
      await calls.stop()
      await registrations.stop()
      await alerts.stop()
      await lease.stop()
      opened = undefined
      // Nor is anything known any more that was read before.
      revisions.raise(undefined)
      await database.close()
      place.release()
    },
    for(tenancy, by, asker) {
      const { maker, database } = parts()
      return maker.bind(tenancy, {
        reader: database.readersFor(asker).reader,
        write: by === 'nobody' ? refuseChange : (work) => change(work, by),
      })
    },
    transaction(tenancy, work, by) {
      const { maker } = parts()
      return change(
        (session, changes) =>
          work(
            maker.bind(tenancy, {
              reader: session,
              write: by === 'nobody' ? refuseChange : (inner) => inner(session, changes),
            }),
          ),
        by === 'nobody' ? undefined : by,
      )
    },
    idempotency: {
      find: (...asked) => parts().idempotency.find(...asked),
      once: (...asked) => parts().idempotency.once(...asked),
      fingerprint: (text) => parts().idempotency.fingerprint(text),
    },
    audit: {
      page: (...asked) => parts().audit.page(...asked),
      verify: (asker) => parts().audit.verify(asker),
      async note(deed, by) {
        if (by === 'nobody') return refuseChange()
        const { database, audit } = parts()
        const entry = { ...deed, before: null, after: null }
        await write(database, (session) => audit.append(session, [entry], by))
      },
    },
    calls: {
      write: (batch, urgency) => parts().calls.write(batch, urgency),
      flush: () => parts().calls.flush(),
      adopt: () => parts().calls.adopt(),
      watch: (listener) => parts().calls.watch(listener),
    },
    outbox: {
      claim: (...asked) => parts().outbox.claim(...asked),
      settle: (results) => parts().outbox.settle(results),
      onEnqueued: (listener) => parts().outbox.onEnqueued(listener),
      nextDueAt: () => parts().outbox.nextDueAt(),
    },
    journal: {
      async read(...asked) {
        const { calls, records } = parts()
        const [, , call_sid] = asked
        // What a call of this node has written is read, also what waits for company.
        await calls.settle(call_sid)
        return records.journal.read(...asked)
      },
    },
    recentCalls: {
      page: (...asked) => parts().records.recentCalls.page(...asked),
      find: (...asked) => parts().records.recentCalls.find(...asked),
      pageOfProvider: (...asked) => parts().records.recentCalls.pageOfProvider(...asked),
      bySipCallId: (...asked) => parts().records.recentCalls.bySipCallId(...asked),
    },
    alerts: {
      // A call that ends while the platform stops may still have something to say.
      raise: (alert) => opened?.alerts.raise(alert),
      page: (...asked) => parts().alerts.page(...asked),
      flush: () => parts().alerts.flush(),
    },
    expired: {
      deliveries: (...asked) => parts().expired.deliveries(...asked),
      sessions: (...asked) => parts().expired.sessions(...asked),
      idempotencyKeys: (...asked) => parts().expired.idempotencyKeys(...asked),
      carrierHosts: (...asked) => parts().expired.carrierHosts(...asked),
      registrations: (...asked) => parts().expired.registrations(...asked),
    },
    registrations: {
      load: () => parts().registrations.load(),
      save: (...asked) => parts().registrations.save(...asked),
      remove: (...asked) => parts().registrations.remove(...asked),
      forget: (...asked) => parts().registrations.forget(...asked),
      flush: () => parts().registrations.flush(),
    },
    pruneRecentCalls: (before, limit) => parts().records.prune(before, limit),
  }
  return storage
}

/** Such a change would have no maker: it is a mistake of ours. */
async function refuseChange(): Promise<never> {
  throw new Error('something was changed by a request that only reads')
}

async function openParts(
  options: StorageOptions,
  change: RunChange,
  onChanged: (changed: ChangedTables | undefined) => void,
): Promise<Opened> {
  const { dataDir, databaseUrl, secretKey, clock, log } = options
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  const vault: Vault = createVault(await loadKey(dataDir, secretKey))
  const database = await openDatabase(options)
  // On the embedded database there is no other process.
  const place = databaseUrl === undefined ? noPlace : takePlace(dataDir)
  const lease = createNodeLease({ database, place: place.name, clock, log })
  const calls = createCallStore({ database, lease, vault, clock, log })
  const node = databaseUrl === undefined ? 'only' : await nodeNameIn(dataDir, place)
  const maker = createRepositoryMaker(database, vault, clock)
  return {
    database,
    lease,
    place,
    follower: createChangeFollower({ database, onChanged, clock, log }),
    probe: createWriteProbe({ write: () => write(database, (session) => lease.touch(session)), clock, log }),
    calls,
    audit: createAuditLog({ database, vault, clock }),
    maker,
    expired: createExpiredRows(database, clock),
    idempotency: createIdempotencyStore({ database, maker, vault, clock, change }),
    outbox: createOutbox({ database, vault, clock, onEnqueued: (listener) => calls.onEnqueued(listener) }),
    records: createCallRecords(database, clock),
    alerts: createAlertStore({ database, clock, log }),
    registrations: createRegistrationStore({ database, node, clock, log }),
  }
}

function openDatabase({ dataDir, databaseUrl, clock, log, sync }: StorageOptions): Promise<Database> {
  if (databaseUrl !== undefined) return openPostgres({ url: databaseUrl, clock, log, migrate })
  const path = join(dataDir, 'switchhook.db')
  return openSqlite({ path, clock, log, migrate, ...(sync === undefined ? {} : { sync }) })
}

const keyCheck = { name: 'secret_key_check', value: 'sealed with the key of this database' }

/** A wrong key must stop the start, not surface as a phone that cannot register. */
async function checkKey(storage: Storage, { database, audit }: Opened): Promise<void> {
  try {
    await storage.for(systemTenancy).settings.find(keyCheck.name)
  } catch (cause) {
    if (cause instanceof AppError) throw cause
    throw new StartError(
      'The key does not open the secrets of this database. Set SWITCHHOOK_SECRET_KEY, or restore secret.key in the ' +
        'data directory, to the key the database was made with.',
      { cause },
    )
  }
  await database.commit((session) => audit.begin(session))
  await storage.transaction(systemTenancy, async ({ settings }) => {
    if ((await settings.count({ where: { name: keyCheck.name } })) === 0) await settings.insert(keyCheck)
  })
}
