// The account or service provider that a path names. A caller below admin cannot tell a foreign one from a missing one.
import { AppError } from '../../lib/errors.ts'
import { insufficientPermissions } from '../../http/scopes.ts'
import { isSid } from '../../lib/ids.ts'
import type { Caller } from '../../lib/caller.ts'
import { repositoryOf } from './rows.ts'
import type { Cells, Repositories } from './rows.ts'

type TenantTable = 'accounts' | 'service_providers'

const tenants = {
  accounts: { parameter: 'AccountSid', noun: 'account' },
  service_providers: { parameter: 'ServiceProviderSid', noun: 'service provider' },
} as const

export function isTenantTable(table: string): table is TenantTable {
  return table in tenants
}

export async function findTenant(
  table: TenantTable,
  sid: string,
  { caller, rows }: { readonly caller: Caller; readonly rows: Repositories },
): Promise<Cells> {
  const { parameter, noun } = tenants[table]
  if (!isSid(sid)) throw new AppError('bad_request', `${parameter} in the path must be a UUID`)
  const row = await repositoryOf(rows, table).find(sid)
  if (row !== undefined) return row
  throw caller.tenancy.level === 'admin'
    ? new AppError('not_found', `no such ${noun}`)
    : insufficientPermissions()
}
