// The carriers that the platform registers with and watches, read from their rows.
import type { TeamsFacts } from '../calls/ports.ts'
import { systemTenancy } from '../contracts/caller.ts'
import type { Repositories, Row, Storage } from '../storage/storage.ts'
import { toTrunkGateway } from '../trunks/trunk-gateway.ts'
import type { Trunk, TrunkDirectory, TrunkLogin } from '../trunks/trunks.ts'
import { inPages } from './in-pages.ts'
import { teamsTrunks } from './teams-trunks.ts'

const tables = ['voip_carriers', 'sip_gateways', 'ms_teams_tenants', 'accounts', 'service_providers'] as const
// The same limit as for calls to a carrier.
const maxGateways = 64

export function createTrunkDirectory(
  storage: Pick<Storage, 'for' | 'revision'>,
  teamsProxies: TeamsFacts['proxies'] = [],
): TrunkDirectory {
  const rows = (): Repositories => storage.for(systemTenancy)
  return {
    revision: () => storage.revision(tables),
    teams: () => teamsTrunks(rows(), teamsProxies),
    async trunks() {
      const { voip_carriers, sip_gateways } = rows()
      const sids = new Set<string>()
      const registered = { is_active: 1, requires_register: 1 } as const
      for await (const page of inPages('voip_carrier_sid', (one) =>
        voip_carriers.list({ where: registered, ...one }),
      ))
        for (const { voip_carrier_sid } of page) sids.add(voip_carrier_sid)
      const watched = { is_active: 1, outbound: 1, send_options_ping: 1 } as const
      for await (const page of inPages('sip_gateway_sid', (one) =>
        sip_gateways.list({ where: watched, ...one }),
      ))
        for (const { voip_carrier_sid } of page) sids.add(voip_carrier_sid)
      const found: Trunk[] = []
      for (const sid of sids) {
        const carrier = await voip_carriers.find(sid)
        if (carrier !== undefined && (await isServed(carrier, rows())))
          found.push(await toTrunk(carrier, rows()))
      }
      return found
    },
  }
}

async function isServed(
  { account_sid, is_active }: Row<'voip_carriers'>,
  { accounts }: Repositories,
): Promise<boolean> {
  if (is_active !== 1) return false
  return account_sid === null || (await accounts.find(account_sid))?.is_active === 1
}

async function toTrunk(carrier: Row<'voip_carriers'>, { sip_gateways }: Repositories): Promise<Trunk> {
  const { voip_carrier_sid, name, account_sid, service_provider_sid } = carrier
  const where = { voip_carrier_sid, outbound: 1, is_active: 1 } as const
  const gateways = await sip_gateways.list({ where, orderBy: ['created_at'], limit: maxGateways })
  const owner = service_provider_sid === null ? undefined : { service_provider_sid }
  return {
    voip_carrier_sid,
    name,
    owner: account_sid === null ? owner : { account_sid },
    login: toLogin(carrier),
    gateways: gateways.flatMap((gateway) => toTrunkGateway(gateway) ?? []),
  }
}

function toLogin(row: Row<'voip_carriers'>): TrunkLogin | undefined {
  const { register_username: username, register_password: password } = row
  if (row.requires_register !== 1 || username === null || password === null) return undefined
  return {
    username,
    password,
    realm: row.register_sip_realm,
    fromUser: row.register_from_user,
    fromDomain: row.register_from_domain,
    hasPublicContact: row.register_public_ip_in_contact === 1,
    learnsAddresses: row.trunk_type === 'reg',
  }
}
