// The account or service provider that a path names. A caller below admin cannot tell a foreign one from a missing one.
import { AppError } from '../../lib/errors.ts'
import { insufficientPermissions } from '../../http/scopes.ts'
import type { Caller } from '../../contracts/caller.ts'
import { demandSid } from './path-sid.ts'
import { repositoryOf } from './rows.ts'
import type { Cells, Repositories } from './rows.ts'

type TenantTable = 'accounts' | 'service_providers'

const tenants = {
  accounts: { parameter: 'AccountSid', noun: 'account' },
  service_providers: {
    parameter: 'ServiceProviderSid',
    noun: 'service provider',
    malformedSid: 'bad_request',
  },
} as const

export function isTenantTable(table: string): table is TenantTable {
  return table in tenants
}

export async function findTenant(
  table: TenantTable,
  { sid, path }: { readonly sid: string; readonly path: string },
  { caller, rows }: { readonly caller: Caller; readonly rows: Repositories },
): Promise<Cells> {
  demandSid(sid, { path, ...tenants[table] })
  const { noun } = tenants[table]
  const row = await repositoryOf(rows, table).find(sid)
  if (row !== undefined) return row
  throw caller.tenancy.level === 'admin'
    ? new AppError('not_found', `no such ${noun}`)
    : insufficientPermissions()
}
