// The public face of storage. `createStorage` in create-storage.ts makes one.
import type { Asker } from '../lib/asker.ts'
import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../lib/log.ts'
import type { AlertLog, AlertStore } from './alerts.ts'
import type { AuditTrail } from './audit-log.ts'
import type { Journal, RecentCalls } from './calls/call-records.ts'
import type { CallStore } from '../contracts/call-record.ts'
import type { CarrierRegistrationStore } from '../contracts/carrier-registration.ts'
import type { ExpiredRows } from './expired-rows.ts'
import type { IdempotencyStore } from './idempotency.ts'
import type { OutdialUsageStore } from '../contracts/outdial-usage.ts'
import type { OutboxStore } from '../contracts/outbox.ts'
import type { RecordingStore } from '../contracts/recording.ts'
import type { RegistrationStore } from './nodes/registrations.ts'
import type { Maker, RowStorage, TableName } from './rows/rows.ts'
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
  /** PostgreSQL; the embedded database in dataDir when undefined. */
  readonly databaseUrl?: string | undefined
  /** 64 hex digits; a key file in dataDir when undefined. */
  readonly secretKey?: string | undefined
  readonly clock: Clock
  readonly log: Logger
  /** For tests: replaces the sync of the log file. */
  readonly sync?: SqliteOptions['sync']
}

/** On whose behalf storage is used. */
export interface Behalf {
  /** In whose name rows are changed. Without one the platform changes them; `reader` may change nothing. */
  readonly maker?: Maker | undefined
  /** Once it has gone, reads reject with `goneError`. Changes are carried through. */
  readonly asker?: Asker | undefined
}

/** What a request reads and writes. */
export interface BoundStorage extends RowStorage {
  readonly recentCalls: RecentCalls
  readonly journal: Journal
  readonly alerts: AlertLog
  readonly audit: AuditTrail
}

/** Everything except start and stop may be used only in between. */
export interface Storage extends BoundStorage {
  readonly name: string
  start(): Promise<void>
  stop(): Promise<void>
  /** A MAC with the key of the database, which all its nodes have. Each purpose has a key of its own. */
  mac(purpose: string, text: string): string
  /**
   * Rises with each change made through repositories, before the change is acknowledged: what was read earlier may be old.
   * With tables, it rises for those only; rows that go with their owner count as changes of the owner's table, traces of use
   * as none. Changes of other processes are in it within a second; while they cannot be read it rises each time.
   */
  revision(tables?: readonly TableName[]): number
  /** As `revision`, without new rows. */
  revisionOfKnown(tables: readonly TableName[]): number
  /** Whether other processes may change rows too. */
  readonly isShared: boolean
  /** Finds out by writing, once a second at most. */
  canWrite(): Promise<boolean>
  /** As the members of these names do, on behalf of a request. */
  boundTo(behalf: Behalf): BoundStorage
  readonly calls: CallStore
  readonly outbox: OutboxStore
  readonly recordings: RecordingStore
  readonly alerts: AlertLog & Pick<AlertStore, 'flush'>
  readonly idempotency: IdempotencyStore
  readonly expired: ExpiredRows
  readonly registrations: Omit<RegistrationStore, 'stop'>
  readonly carrierRegistrations: CarrierRegistrationStore
  readonly outdialUsage: OutdialUsageStore
}
