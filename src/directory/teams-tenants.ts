// The Microsoft Teams tenants, read from storage for the call engine.
import type { TeamsDirectory, TeamsTenantFacts } from '../calls/ports.ts'
import { teamsPingName } from '../contracts/teams.ts'
import type { Memo } from '../lib/memo.ts'
import type { Repositories, Row, TableName } from '../storage/storage.ts'

export interface TeamsDirectoryOptions {
  readonly rows: () => Repositories
  readonly remember: <V>(tables: readonly TableName[]) => Memo<V>
}

const tables = ['ms_teams_tenants', 'applications', 'accounts', 'service_providers'] as const
// More than any account has. An account with more can name the tenant in the target.
const maxTenants = 100

export function createTeamsDirectory({ rows, remember }: TeamsDirectoryOptions): TeamsDirectory {
  const byName = remember<TeamsTenantFacts>(tables)
  const byAccount = remember<readonly TeamsTenantFacts[]>(tables)
  return {
    teamsTenant: (tenant_fqdn) =>
      byName(tenant_fqdn, async () => {
        const [row] = await rows().ms_teams_tenants.list({ where: { tenant_fqdn }, limit: 1 })
        return row === undefined ? undefined : toFacts(row, rows())
      }),
    async teamsTenantsOf(account_sid) {
      const found = await byAccount(account_sid, async () => {
        const where = { account_sid }
        const listed = await rows().ms_teams_tenants.list({
          where,
          orderBy: ['created_at'],
          limit: maxTenants,
        })
        return Promise.all(listed.map((row) => toFacts(row, rows())))
      })
      return found ?? []
    },
  }
}

async function toFacts(
  row: Row<'ms_teams_tenants'>,
  { service_providers }: Repositories,
): Promise<TeamsTenantFacts> {
  const { ms_teams_tenant_sid, tenant_fqdn, account_sid, application_sid, service_provider_sid } = row
  const provider =
    service_provider_sid === null ? undefined : await service_providers.find(service_provider_sid)
  const ping_fqdn = teamsPingName(tenant_fqdn, provider?.ms_teams_fqdn ?? null)
  return { ms_teams_tenant_sid, tenant_fqdn, ping_fqdn, account_sid, application_sid }
}
