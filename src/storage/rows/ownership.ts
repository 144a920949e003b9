// The rows that a tenancy sees, and the owner of a new or moved row, checked against the caller's own tenancy.
import type { Tenancy } from '../../contracts/caller.ts'
import { AppError } from '../../lib/errors.ts'
import type { Cell, Cells } from '../database/database.ts'
import { descriptorOf } from './descriptors.ts'
import type { TableName } from './rows.ts'
import type { ProviderSource } from './table-queries.ts'

export interface Owner {
  readonly owner: Cells
  readonly provider: ProviderSource
}

/** Both columns exist in the tables that are read without a repository. An absent one narrows nothing. */
export interface OwnerFilter {
  readonly account_sid?: string
  readonly service_provider_sid?: string
}

/** Returns the filter for the rows that the tenancy sees, for `eb.and`. */
export function tenancyFilter(tenancy: Tenancy): OwnerFilter {
  switch (tenancy.level) {
    case 'account':
      return { account_sid: tenancy.account_sid }
    case 'service_provider':
      return { service_provider_sid: tenancy.service_provider_sid }
    case 'admin':
    case 'system':
      return {}
  }
}

/** Throws not_permitted when the row would lie outside the tenancy. */
export function ownerOf(table: TableName, tenancy: Tenancy, given: Cells): Owner {
  const { key, owner: columns } = descriptorOf(table)
  if (columns.length === 0) return { owner: {}, provider: 'values' }
  // An account's own row is found by its key; other rows are checked against both columns.
  const hasAccount = columns.includes('account_sid') && key !== 'account_sid'
  const account = hasAccount ? given['account_sid'] : undefined
  const provider = given['service_provider_sid']
  switch (tenancy.level) {
    case 'account':
      demandSame(provider, tenancy.service_provider_sid)
      if (!hasAccount) return { owner: {}, provider: 'values' }
      demandSame(account, tenancy.account_sid)
      return {
        owner: { account_sid: tenancy.account_sid, service_provider_sid: tenancy.service_provider_sid },
        provider: 'values',
      }
    case 'service_provider':
      demandSame(provider, tenancy.service_provider_sid)
      return {
        owner: { service_provider_sid: tenancy.service_provider_sid },
        provider: isPresent(account) ? 'own_account' : 'values',
      }
    case 'admin':
    case 'system':
      if (!isPresent(account)) return { owner: {}, provider: 'values' }
      return { owner: {}, provider: isPresent(provider) ? 'own_account' : 'account' }
  }
}

function isPresent(cell: Cell | undefined): boolean {
  return cell !== undefined && cell !== null
}

/**
 * Throws not_permitted if the given owner is not the caller's own. A lower level may not clear the owner either: null
 * would give the row to the provider or the platform.
 */
function demandSame(given: Cell | undefined, own: string): void {
  if (given !== undefined && given !== own) throw new AppError('not_permitted', 'insufficient permissions')
}
