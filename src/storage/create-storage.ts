// Storage, put together: the database, everything that is bound to it, and their start and stop.
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { systemTenancy } from '../contracts/caller.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError } from '../lib/errors.ts'
import { createAlertStore } from './alerts.ts'
import { createAuditLog, type AuditLog } from './audit-log.ts'
import { createCallRecords } from './calls/call-records.ts'
import { createCallStore } from './calls/call-store.ts'
import { createCarrierRegistrationStore } from './nodes/carrier-registrations.ts'
import { createOutdialUsageStore } from './calls/outdial-usage.ts'
import { createChangeFollower } from './nodes/change-follower.ts'
import { createChangeSet, type Change } from './rows/change-set.ts'
import type { Actor } from './rows/rows.ts'
import { readersFor, write, type Database } from './database/database.ts'
import { createExpiredRows, type ExpiredRows } from './expired-rows.ts'
import { createClockWatch, type ClockWatch } from './nodes/clock-watch.ts'
import { createIdempotencyStore, type RunChange } from './idempotency.ts'
import { createLateDatabase, type LateDatabase } from './database/late-database.ts'
import { migrate } from './database/migrate.ts'
import { createNodeLease } from './nodes/node-lease.ts'
import { nodeNameIn } from './nodes/node-name.ts'
import { createNodePlace } from './nodes/node-place.ts'
import { createOutbox } from './outbox.ts'
import { createPostgresKind, openPostgres } from './postgres/postgres.ts'
import { createRegistrationStore } from './nodes/registrations.ts'
import { createRecordingStore } from './calls/recordings.ts'
import { createRepositoryMaker } from './rows/repository.ts'
import { keyCheck, wrongKey } from './key-check.ts'
import { createRevisions } from './rows/revisions.ts'
import { createLateVault, loadKey } from './secrets.ts'
import { createSqliteKind, openSqlite } from './sqlite/sqlite.ts'
import { toFileStartError } from './database/start-failure.ts'
import type { Behalf, BoundStorage, Storage, StorageOptions } from './storage.ts'
import { createDiskReserve, type DiskReserve } from './database/disk-reserve.ts'
import { createWriteProbe, troubleOf } from './database/write-probe.ts'

export function createStorage(options: StorageOptions): Storage {
  const parts = createParts(options)
  const { database, revisions, follower, alerts } = parts
  let isRunning = false
  parts.calls.onTrouble((reason) => {
    void alertProviders(parts, reason)
    void alertAccounts(parts, reason, options.clock)
  })
  parts.clockWatch.onWrong((reason) => void alertProviders(parts, reason))

  /** Treats changes of other processes that may have been missed as made. */
  function demandNews(): void {
    if (isRunning && !follower.isCurrent) revisions.raise(undefined)
  }

  const own = bind(parts, {})
  const storage: Storage = {
    ...own,
    name: 'storage',
    mac: (purpose, text) => parts.vault.mac(purpose, text),
    boundTo: (behalf) => bind(parts, behalf),
    isShared: database.isShared,
    revision(tables) {
      demandNews()
      return revisions.of(tables)
    },
    revisionOfKnown(tables) {
      demandNews()
      return revisions.ofKnown(tables)
    },
    async writeTrouble() {
      if (!isRunning) return 'database_unavailable'
      const refusal = parts.calls.refusal() ?? parts.clockWatch.refusal()
      return refusal === undefined ? parts.probe.trouble() : troubleOf(refusal)
    },
    async start() {
      await open(parts, options)
      isRunning = true
      try {
        await checkKey(storage, parts)
        await parts.lease.start()
        await parts.reserve.start()
        // The last process may have ended in the middle of it.
        void pruneAudit(parts.audit).catch((error: unknown) =>
          parts.log.warn({ err: error }, 'audit log was not pruned'),
        )
        await follower.start()
      } catch (error) {
        await storage.stop()
        throw error
      }
    },
    async stop() {
      if (!isRunning) return
      isRunning = false
      await close(parts)
    },
    alerts: { ...own.alerts, flush: () => alerts.flush() },
    calls: parts.calls,
    outbox: parts.outbox,
    recordings: parts.recordings,
    idempotency: parts.idempotency,
    expired: parts.expired,
    registrations: parts.registrations,
    outdialUsage: parts.outdialUsage,
    carrierRegistrations: parts.carrierRegistrations,
  }
  return storage
}

// The most providers that get an alert about the platform itself: all, of any platform in use.
const maxTold = 100
// Half of the alerts that may wait to be written.
const maxToldAccounts = 500
const hourMs = 3_600_000

const carriersOnly: ReadonlySet<string> = new Set(['voip_carriers'])

type Parts = ReturnType<typeof createParts>

function createParts(options: StorageOptions) {
  const { dataDir, clock, log } = options
  const opened = createDatabase(options)
  const reserve = createReserve(opened, options)
  const database = noting(opened, reserve)
  const vault = createLateVault()
  const node = { name: 'only' }
  const place = createNodePlace(dataDir)
  const revisions = createRevisions()
  const audit = createAuditLog({ database, vault, clock })
  const repositories = createRepositoryMaker(database, vault, clock)
  const { timeOf } = database
  const clockWatch = createClockWatch({
    databaseTime: options.databaseTime ?? (timeOf && (() => timeOf(database.pulse))),
    clock,
    log,
  })
  const lease = createNodeLease({ database, place, look: () => clockWatch.look(), clock, log })
  const calls = createCallStore({ database, lease, reserve, vault, clock, log })

  /** Runs one transaction, with the audit log entries for its changes. */
  const change: RunChange = async (work, actor) => {
    try {
      const { result, tables } = await write(database, async (session) => {
        const changes = createChangeSet()
        const made = await work(session, changes)
        const entries = changes.entries()
        demandRoom(reserve, entries, actor)
        demandClock(clockWatch, entries)
        audit.demandBudget(entries, actor)
        await audit.append(session, entries, actor)
        return { result: made, tables: changes.tables() }
      })
      revisions.raise(tables)
      return result
    } catch (error) {
      // A failed transaction may have been committed all the same.
      revisions.raise(undefined)
      throw error
    }
  }

  return {
    log,
    clockWatch,
    database,
    reserve,
    vault,
    node,
    place,
    revisions,
    audit,
    repositories,
    lease,
    calls,
    change,
    follower: createChangeFollower({
      database,
      onChanged: (changed) => revisions.raise(changed),
      clock,
      log,
    }),
    probe: createWriteProbe({ write: () => write(database, (session) => lease.touch(session)), clock, log }),
    expired: whileClockIsRight(createExpiredRows(database), clockWatch),
    idempotency: createIdempotencyStore({ database, repositories, vault, clock, change }),
    outbox: createOutbox({ database, vault, clock, onEnqueued: (listener) => calls.onEnqueued(listener) }),
    records: createCallRecords(database, clock),
    recordings: createRecordingStore({ database, vault, clock, log }),
    alerts: createAlertStore({ database, clock, log }),
    outdialUsage: createOutdialUsageStore(database),
    carrierRegistrations: createCarrierRegistrationStore({
      database,
      lease,
      turned: () => revisions.raise({ all: carriersOnly, known: carriersOnly }),
    }),
    registrations: createRegistrationStore({ database, node: () => node.name, clock, log }),
  }
}

function createDatabase({ dataDir, databaseUrl, clock, log, sync }: StorageOptions): LateDatabase {
  if (databaseUrl !== undefined)
    return createLateDatabase(createPostgresKind(), () =>
      openPostgres({ url: databaseUrl, clock, log, migrate }),
    )
  const path = join(dataDir, 'switchhook.db')
  return createLateDatabase(createSqliteKind(), () => openSqlite({ path, clock, log, migrate, sync }))
}

/** Tells every service provider why calls are refused. While the database cannot be read, the log alone says it. */
async function alertProviders({ database, alerts }: Parts, { code, message, cure }: AppError): Promise<void> {
  const providers = await database.reader
    .all(`select service_provider_sid from service_providers limit ${maxTold}`, [])
    .catch(() => [])
  for (const { service_provider_sid } of providers)
    alerts.raise({
      service_provider_sid: String(service_provider_sid),
      alert_type: code.replace('_', '-'),
      message: code === 'clock_wrong' ? message : `calls are refused: ${message}`,
      detail: cure,
    })
}

/** Tells accounts, whose callers hear of it, that their calls are refused: once an hour, and not for each call. */
async function alertAccounts(
  { database, alerts }: Parts,
  { code, message }: AppError,
  clock: Clock,
): Promise<void> {
  const accounts = await database.reader
    .all(`select account_sid from accounts where is_active = 1 limit ${maxToldAccounts}`, [])
    .catch(() => [])
  for (const { account_sid } of accounts)
    alerts.raise({
      account_sid: String(account_sid),
      alert_type: code.replace('_', '-'),
      message: `calls are refused: ${message}`,
      detail: 'The service provider has been alerted, and calls are taken again once this is mended.',
      once: `hour ${Math.floor(clock.now() / hourMs)}`,
    })
}

/** Embedded databases only: the disk of PostgreSQL belongs to another machine. */
function createReserve(
  database: Database,
  { dataDir, databaseUrl, reserveBytes = 0, clock, log }: StorageOptions,
) {
  return createDiskReserve({
    path: databaseUrl === undefined ? join(dataDir, 'reserve') : undefined,
    bytes: reserveBytes,
    async spareBytes() {
      const [free] = await database.reader.all('PRAGMA freelist_count', [])
      const [page] = await database.reader.all('PRAGMA page_size', [])
      return Number(free?.['freelist_count'] ?? 0) * Number(page?.['page_size'] ?? 0)
    },
    clock,
    log,
  })
}

/** Returns the database, with each failed write told to the reserve. */
function noting(database: LateDatabase, reserve: DiskReserve): LateDatabase {
  const told = <R>(written: Promise<R>): Promise<R> =>
    written.catch((error: unknown) => {
      reserve.failed(error)
      throw error
    })
  return {
    ...database,
    commit: (work) => told(database.commit(work)),
    commitBeside: (work) => told(database.commitBeside(work)),
  }
}

/** Throws AppError disk_full for a change that can wait: not that of an administrator, a login or a removal. */
function demandRoom(reserve: DiskReserve, entries: readonly Change[], actor: Actor | undefined): void {
  if (actor === undefined || actor.tenancy?.level === 'admin') return
  if (entries.every(({ action, resource }) => action === 'delete' || resource === 'user_sessions')) return
  const refusal = reserve.refusal()
  if (refusal !== undefined) throw refusal
}

/** Throws AppError clock_wrong for a login. It would end too early, and end others. */
function demandClock(watch: ClockWatch, entries: readonly Change[]): void {
  if (!entries.some(({ action, resource }) => action === 'create' && resource === 'user_sessions')) return
  const reason = watch.refusal()
  if (reason !== undefined) throw reason
}

/** Returns the rows, of which none is removed while this node does not know the time. */
function whileClockIsRight(rows: ExpiredRows, watch: ClockWatch): ExpiredRows {
  return {
    remove(...which) {
      const reason = watch.refusal()
      return reason === undefined ? rows.remove(...which) : Promise.reject(reason)
    },
  }
}

function bind(parts: Parts, { maker, asker }: Behalf): BoundStorage {
  const { database, repositories, change, records, calls, alerts, audit } = parts
  const readers = readersFor(database, asker)
  const actor = maker === 'reader' ? undefined : maker
  return {
    for: (tenancy) =>
      repositories.bind(tenancy, {
        reader: readers.reader,
        write: maker === 'reader' ? refuseChange : (work) => change(work, actor),
      }),
    transaction: (tenancy, work) =>
      change(
        (session, changes) =>
          work(
            repositories.bind(tenancy, {
              reader: session,
              write: maker === 'reader' ? refuseChange : (inner) => inner(session, changes),
            }),
          ),
        actor,
      ),
    recentCalls: records.recentCalls(readers),
    journal: {
      async read(tenancy, account_sid, call_sid) {
        // Batches of this call that still wait are written first.
        await calls.settle(call_sid)
        return records.journal(readers).read(tenancy, account_sid, call_sid)
      },
    },
    alerts: { raise: (alert) => alerts.raise(alert), ...alerts.readWith(readers) },
    audit: {
      ...audit.readWith(readers),
      async note(deed) {
        if (maker === 'reader') return refuseChange()
        const entry = { ...deed, before: null, after: null }
        await write(database, (session) => audit.append(session, [entry], actor))
      },
      async removeUpTo(place) {
        if (maker === 'reader') return refuseChange()
        await audit.seal(place, actor)
        await pruneAudit(audit)
      },
    },
  }
}

async function open(
  { database, vault, place, node }: Parts,
  { dataDir, secretKey }: StorageOptions,
): Promise<void> {
  try {
    await mkdir(dataDir, { recursive: true, mode: 0o700 })
    vault.open(await loadKey(dataDir, secretKey))
    await database.open()
    // Only one node can use the embedded database, so no name is needed.
    if (!database.isShared) return
    place.take()
    node.name = await nodeNameIn(dataDir, place)
  } catch (error) {
    await database.close()
    place.release()
    throw toFileStartError(error, dataDir)
  }
}

async function close({
  follower,
  reserve,
  calls,
  registrations,
  alerts,
  lease,
  ...parts
}: Parts): Promise<void> {
  await follower.stop()
  await reserve.stop()
  await calls.stop()
  await registrations.stop()
  await alerts.stop()
  await lease.stop()
  // Rows read before may be out of date when the database is opened again.
  parts.revisions.raise(undefined)
  await parts.database.close()
  parts.place.release()
}

/** Removes the entries up to the checkpoint, with a pause after each batch. A stop leaves the rest to the next one. */
async function pruneAudit(audit: Pick<AuditLog, 'prune'>): Promise<void> {
  while ((await audit.prune()) > 0) await new Promise((resolve) => setImmediate(resolve))
}

/** Refuses a change in a request that only reads: its handler is at fault. */
async function refuseChange(): Promise<never> {
  throw new Error('something was changed by a request that only reads')
}

/** Checks the key at the start: a wrong key must stop the start, not surface later as a phone that cannot register. */
async function checkKey(storage: Storage, { database, audit }: Parts): Promise<void> {
  try {
    await storage.for(systemTenancy).settings.find(keyCheck.name)
  } catch (cause) {
    throw cause instanceof AppError ? cause : wrongKey(cause)
  }
  await database.commit((session) => audit.begin(session))
  await storage.transaction(systemTenancy, async ({ settings }) => {
    if ((await settings.count({ where: { name: keyCheck.name } })) === 0) await settings.insert(keyCheck)
  })
}
