// The columns that tables have in common. What a released migration uses must not change.
import { sql } from 'kysely'
import type { ColumnDefinitionBuilder, CreateTableBuilder } from 'kysely'

type Column = (column: ColumnDefinitionBuilder) => ColumnDefinitionBuilder

export const required: Column = (column) => column.notNull()
export const id: Column = (column) => column.primaryKey().notNull()
export const unique: Column = (column) => column.notNull().unique()
export const flag =
  (value: 0 | 1): Column =>
  (column) =>
    column.notNull().defaultTo(value)
/** A word or number that is there even when nobody gave it. */
export const preset =
  (value: string | number): Column =>
  (column) =>
    column.notNull().defaultTo(value)

export const owner = ['service_provider_sid', 'account_sid']

export function versioned<T extends string>(
  table: CreateTableBuilder<T>,
): CreateTableBuilder<T, 'created_at' | 'version'> {
  return table.addColumn('created_at', 'bigint', required).addColumn('version', 'integer', preset(1))
}

/**
 * A row of the platform, a provider or an account, gone with its owner. The pair is checked together, so that no row
 * can name an account and a provider that is not its own.
 */
export function ownedAtAnyLevel<T extends string, C extends string>(
  name: string,
  table: CreateTableBuilder<T, C>,
): CreateTableBuilder<T, C | 'account_sid' | 'service_provider_sid'> {
  return table
    .addColumn('account_sid', 'text')
    .addColumn('service_provider_sid', 'text', (column) =>
      column.references('service_providers.service_provider_sid').onDelete('cascade'),
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
