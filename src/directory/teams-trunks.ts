// The names in which OPTIONS is sent to Microsoft Teams: service providers, and tenants below none of them.
import type { TeamsFacts } from '../calls/ports.ts'
import type { AlertOwner } from '../contracts/alert.ts'
import { teamsPingName, teamsProxyKey } from '../contracts/teams.ts'
import type { Repositories, Row } from '../storage/storage.ts'
import type { Trunk } from '../trunks/trunks.ts'
import { inPages } from './in-pages.ts'

export async function teamsTrunks(
  rows: Repositories,
  proxies: TeamsFacts['proxies'],
): Promise<readonly Trunk[]> {
  const { ms_teams_tenants, service_providers } = rows
  const owners = new Map<string, AlertOwner>()
  const providers = new Map<string, Row<'service_providers'>>()
  const providerPages = inPages('service_provider_sid', (page) => service_providers.list(page))
  for await (const page of providerPages)
    for (const provider of page) {
      const { service_provider_sid, ms_teams_fqdn } = provider
      providers.set(service_provider_sid, provider)
      if (ms_teams_fqdn !== null) owners.set(ms_teams_fqdn, { service_provider_sid })
    }
  const tenantPages = inPages('ms_teams_tenant_sid', (page) => ms_teams_tenants.list(page))
  for await (const page of tenantPages)
    for (const { tenant_fqdn, account_sid, service_provider_sid } of page) {
      const provider = providers.get(service_provider_sid ?? '')
      const name = teamsPingName(tenant_fqdn, provider?.ms_teams_fqdn ?? null)
      const owner = ownerOf(account_sid, service_provider_sid)
      if (name === tenant_fqdn && owner !== undefined && !owners.has(name)) owners.set(name, owner)
    }
  return [...owners].map(([name, owner]) => toTrunk(name, owner, proxies))
}

function ownerOf(account_sid: string | null, service_provider_sid: string | null): AlertOwner | undefined {
  if (account_sid !== null) return { account_sid }
  return service_provider_sid === null ? undefined : { service_provider_sid }
}

function toTrunk(ourName: string, owner: AlertOwner, proxies: TeamsFacts['proxies']): Trunk {
  return {
    // There is no row for it, so nothing about it is stored.
    voip_carrier_sid: `teams ${ourName}`,
    name: `Microsoft Teams (${ourName})`,
    owner,
    login: undefined,
    gateways: proxies.map((proxy) => ({
      sip_gateway_sid: teamsProxyKey(ourName, proxy),
      ...proxy,
      protocol: 'tls',
      use_sips_scheme: false,
      isWatched: true,
      ourName,
    })),
  }
}
