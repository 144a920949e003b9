// The public interface of storage. `createStorage` in create-storage.ts implements it.
import type { Asker } from '../lib/asker.ts'
import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../lib/log.ts'
import type { AlertLog, AlertStore } from './alerts.ts'
import type { AuditTrail } from './audit-log.ts'
import type { Journal, RecentCalls } from './calls/call-records.ts'
import type { CallStore } from '../contracts/call-record.ts'
import type { StoredEvent } from '../contracts/journal.ts'
import type { AppError } from '../lib/errors.ts'
import type { CarrierRegistrationStore } from '../contracts/carrier-registration.ts'
import type { ExpiredRows } from './expired-rows.ts'
import type { IdempotencyStore } from './idempotency.ts'
import type { OutdialUsageStore } from '../contracts/outdial-usage.ts'
import type { OutboxStore } from '../contracts/outbox.ts'
import type { RecordingStore } from '../contracts/recording.ts'
import type { RegistrationStore } from './nodes/registrations.ts'
import type { Maker, RowStorage, TableName } from './rows/rows.ts'
import type { WriteTrouble } from './database/write-probe.ts'
import type { SqliteOptions } from './sqlite/sqlite.ts'

export type {
  Actor,
  Filter,
  ListOptions,
  Maker,
  Repositories,
  Repository,
  Row,
  RowRepository,
  RowStorage,
  TableName,
} from './rows/rows.ts'

export interface StorageOptions {
  readonly dataDir: string
  /** The URL of PostgreSQL; undefined for the embedded database in dataDir. */
  readonly databaseUrl?: string | undefined
  /** 64 hex digits; undefined for the key file in dataDir. */
  readonly secretKey?: string | undefined
  /** The most of the disk of the embedded database that is kept for administrators; none if left out. */
  readonly reserveBytes?: number
  readonly clock: Clock
  readonly log: Logger
  /** A replacement for the time of the database, for tests whose clock stands still. */
  readonly databaseTime?: () => Promise<number>
  /** A replacement for the sync of the log file, for tests. */
  readonly sync?: SqliteOptions['sync']
}

/** The request on whose behalf storage is used. */
export interface Behalf {
  /** The actor in whose name rows are changed. Without one the platform changes them; `reader` may change nothing. */
  readonly maker?: Maker | undefined
  /** The client of the request. Once it is gone, reads reject with `goneError`; changes are completed. */
  readonly asker?: Asker | undefined
}

/** The part of storage that a request reads and writes. */
export interface BoundStorage extends RowStorage {
  readonly recentCalls: RecentCalls
  readonly journal: Journal
  readonly alerts: AlertLog
  readonly audit: AuditTrail
}

/** Storage. Members other than start and stop may be used only between the two. */
export interface Storage extends BoundStorage {
  readonly name: string
  start(): Promise<void>
  stop(): Promise<void>
  /** Returns a MAC with the key of the database, which all its nodes share. Each purpose has its own key. */
  mac(purpose: string, text: string): string
  /**
   * Returns a number that rises with each change made through repositories, before the change is acknowledged: rows
   * read earlier may then be out of date. With tables, it rises for those only. Rows that are removed with their owner
   * count as changes of the owner's table; traces of use do not count. Changes of other processes are included within
   * a second; while they cannot be read, it rises with each call.
   */
  revision(tables?: readonly TableName[]): number
  /** Like `revision`, but ignores new rows. */
  revisionOfKnown(tables: readonly TableName[]): number
  /** Whether other processes may change rows too. */
  readonly isShared: boolean
  /** Returns why what must be kept cannot be written now, or undefined. Writes once a second at most. */
  writeTrouble(): Promise<WriteTrouble | undefined>
  /** Returns the members of these names for use on behalf of a request. */
  boundTo(behalf: Behalf): BoundStorage
  readonly calls: CallStore<StoredEvent, AppError>
  readonly outbox: OutboxStore
  readonly recordings: RecordingStore
  readonly alerts: AlertLog & Pick<AlertStore, 'flush'>
  readonly idempotency: IdempotencyStore
  readonly expired: ExpiredRows
  readonly registrations: Omit<RegistrationStore, 'stop'>
  readonly carrierRegistrations: CarrierRegistrationStore
  readonly outdialUsage: OutdialUsageStore
}
