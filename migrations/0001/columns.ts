// Columns and indexes that several tables have in common.
import {
  PostgresAdapter,
  sql,
  type ColumnDefinitionBuilder,
  type CreateTableBuilder,
  type Kysely,
} from 'kysely'

export type Column = (column: ColumnDefinitionBuilder) => ColumnDefinitionBuilder

export const required: Column = (column) => column.notNull()
export const id: Column = (column) => column.primaryKey().notNull()
export const unique: Column = (column) => column.notNull().unique()
export const uniqueIfAny: Column = (column) => column.unique()
export const flag =
  (value: 0 | 1): Column =>
  (column) =>
    column.notNull().defaultTo(value)
/** Sets the word or number that a row gets by default. */
export const preset =
  (value: string | number): Column =>
  (column) =>
    column.notNull().defaultTo(value)

export const account: Column = (column) =>
  column.notNull().references('accounts.account_sid').onDelete('cascade')
export const application: Column = (column) => column.references('applications.application_sid')
export const carrier: Column = (column) => column.references('voip_carriers.voip_carrier_sid')
export const provider: Column = (column) =>
  column.references('service_providers.service_provider_sid').onDelete('cascade')
export const webhook: Column = (column) => column.references('webhooks.webhook_sid')

export const owner = ['service_provider_sid', 'account_sid']

export function isPostgres(db: Kysely<unknown>): boolean {
  return db.getExecutor().adapter instanceof PostgresAdapter
}

export function versioned<T extends string>(
  table: CreateTableBuilder<T>,
): CreateTableBuilder<T, 'created_at' | 'version'> {
  return table.addColumn('created_at', 'bigint', required).addColumn('version', 'integer', preset(1))
}

interface Owned {
  /** The lowest owner that a row must have. With `any` a row may also belong to a provider or the platform. */
  readonly level: 'account' | 'any'
  readonly onProviderDelete: 'cascade' | 'no action'
}

/** Adds the owner columns, checked as a pair: no row can name an account and a provider that is not its own. */
export function owned<T extends string, C extends string>(
  name: string,
  table: CreateTableBuilder<T, C>,
  { level, onProviderDelete }: Owned = { level: 'any', onProviderDelete: 'cascade' },
): CreateTableBuilder<T, C | 'account_sid' | 'service_provider_sid'> {
  const presence: Column = level === 'account' ? required : (column) => column
  return table
    .addColumn('account_sid', 'text', presence)
    .addColumn('service_provider_sid', 'text', (column) =>
      presence(column).references('service_providers.service_provider_sid').onDelete(onProviderDelete),
    )
    .addForeignKeyConstraint(
      `${name}_owner`,
      ['service_provider_sid', 'account_sid'],
      'accounts',
      ['service_provider_sid', 'account_sid'],
      (key) => key.onDelete('cascade'),
    )
    .addCheckConstraint(
      `${name}_owner_is_whole`,
      sql`account_sid is null or service_provider_sid is not null`,
    )
}

/** The ownership of a table whose rows belong to an account and whose provider cannot be removed before them. */
export const ofAccount: Owned = { level: 'account', onProviderDelete: 'no action' }

/** Creates one index for each column, named after it. */
export async function indexEach(
  db: Kysely<unknown>,
  table: string,
  columns: readonly string[],
): Promise<void> {
  for (const column of columns)
    await db.schema.createIndex(`${table}_by_${column}`).on(table).column(column).execute()
}

/** Creates the indexes of owner and keys. Without them, each delete of a referenced row reads the whole table. */
export async function indexOwned(db: Kysely<unknown>, table: string, keys: readonly string[]): Promise<void> {
  await db.schema.createIndex(`${table}_by_owner`).on(table).columns(owner).execute()
  await db.schema.createIndex(`${table}_by_account`).on(table).column('account_sid').execute()
  await indexEach(db, table, keys)
}
