// The ways out of an account, from storage: its carriers with their gateways, and its table of least cost routing.
import type {
  AccountFacts,
  CarrierHop,
  DialPlan,
  DialRoute,
  OutboundCarrier,
  OutboundDirectory,
  OutboundGateway,
  RouteEntry,
} from '../calls/ports.ts'
import { nextHopOf } from '../calls/rules.ts'
import { compileInTurns, compilePattern } from '../lib/pattern.ts'
import type { Memo } from '../lib/memo.ts'
import type { Repositories, Row, TableName } from '../storage/storage.ts'
import { inPages } from './in-pages.ts'

export interface OutboundDirectoryOptions {
  readonly rows: () => Repositories
  /** Makes a memo of values from these tables, including those that cascade to others. */
  readonly remember: <V>(tables: readonly TableName[]) => Memo<V>
}

const owners = ['accounts', 'service_providers'] as const
const carrierTables = ['voip_carriers', 'sip_gateways', ...owners] as const
const planTables = ['lcrs', 'lcr_routes', 'lcr_carrier_set_entries', 'voip_carriers', ...owners] as const

// More than any account has: the rows that are read for one call must be bounded.
const maxCarriers = 500
const maxGateways = 64
const maxRoutes = 100
const maxEntries = 64
/** The most hops that are read before those of accounts are left out. */
const maxHops = 5000

export function createOutboundDirectory({ rows, remember }: OutboundDirectoryOptions): OutboundDirectory {
  const carriers = remember<readonly OutboundCarrier[]>(carrierTables)
  const plans = remember<DialPlan>(planTables)
  const hops = remember<readonly CarrierHop[]>(carrierTables)
  return {
    async outboundCarriers(account) {
      const found = await carriers(account.account_sid, () => readCarriers(account, rows()))
      return found ?? []
    },
    carrierHops: async () => (await hops('all', () => readHops(rows()))) ?? [],
    dialPlan: (account) => plans(account.account_sid, () => readPlan(account, rows())),
  }
}

async function readCarriers(
  { account_sid, service_provider_sid }: AccountFacts,
  { voip_carriers, sip_gateways }: Repositories,
): Promise<readonly OutboundCarrier[]> {
  const order = { orderBy: ['created_at'], limit: maxCarriers } as const
  const own = await voip_carriers.list({ where: { account_sid, is_active: 1 }, ...order })
  const shared = await voip_carriers.list({
    where: { service_provider_sid, account_sid: null, is_active: 1 },
    ...order,
  })
  const found: OutboundCarrier[] = []
  for (const row of [...own, ...shared]) {
    const { voip_carrier_sid } = row
    const where = { voip_carrier_sid, outbound: 1, is_active: 1 } as const
    const gateways = await sip_gateways.list({ where, orderBy: ['created_at'], limit: maxGateways })
    const usable = gateways.map(toGateway)
    if (usable.length > 0) found.push(toCarrier(row, usable))
  }
  return found
}

/** Includes carriers that are switched off: they still know the platform. */
async function readHops({ voip_carriers, sip_gateways }: Repositories): Promise<readonly CarrierHop[]> {
  const carriers = new Map<string, Row<'voip_carriers'>>()
  for await (const page of inPages('voip_carrier_sid', (at) => voip_carriers.list(at)))
    for (const row of page) carriers.set(row.voip_carrier_sid, row)
  const hops = new Map<string, CarrierHop>()
  const gatewayPages = inPages('sip_gateway_sid', (at) =>
    sip_gateways.list({ where: { outbound: 1 }, ...at }),
  )
  for await (const page of gatewayPages)
    for (const row of page) {
      const carrier = carriers.get(row.voip_carrier_sid)
      if (carrier === undefined) continue
      const { account_sid, outbound_sip_proxy, requires_register } = carrier
      // Accounts may have made many. Those of the operator must be known to the fraud defence.
      if (account_sid !== null && hops.size >= maxHops) continue
      const way = { outbound_sip_proxy, requires_register: requires_register === 1 }
      const hop = nextHopOf(way, toGateway(row))
      hops.set(`${hop} ${account_sid}`, { hop, account_sid })
    }
  return [...hops.values()]
}

function toGateway(row: Row<'sip_gateways'>): OutboundGateway {
  const { sip_gateway_sid, ipv4: host, port, protocol } = row
  const isEncrypted = protocol === 'tls/srtp'
  return {
    sip_gateway_sid,
    host,
    port,
    protocol: isEncrypted ? 'tls' : protocol,
    use_sips_scheme: row.use_sips_scheme === 1,
    ...(isEncrypted ? toProtection(row) : {}),
  }
}

function toProtection({
  pad_crypto,
  dtls_off,
  remove_ice,
}: Row<'sip_gateways'>): Pick<OutboundGateway, 'protection' | 'protectionAgain'> {
  const protection = { sdes: 'required', padsKeys: pad_crypto === 1 } as const
  if (dtls_off === 1) return { protection }
  return { protection, protectionAgain: { dtls: remove_ice === 1 ? 'no-ice' : 'ice' } }
}

function toCarrier(row: Row<'voip_carriers'>, gateways: readonly OutboundGateway[]): OutboundCarrier {
  return {
    voip_carrier_sid: row.voip_carrier_sid,
    name: row.name,
    isShared: row.account_sid === null,
    gateways,
    dtmf_type: row.dtmf_type,
    tech_prefix: row.tech_prefix,
    e164_leading_plus: row.e164_leading_plus === 1,
    send_user_phone: row.send_user_phone === 1,
    diversion: row.diversion,
    outbound_sip_proxy: row.outbound_sip_proxy,
    requires_register: row.requires_register === 1,
    register_sip_realm: row.register_sip_realm,
    register_username: row.register_username,
    register_password: row.register_password,
    register_from_domain: row.register_from_domain,
  }
}

async function readPlan(
  { account_sid, service_provider_sid }: AccountFacts,
  rows: Repositories,
): Promise<DialPlan | undefined> {
  const { lcrs, lcr_routes, lcr_carrier_set_entries } = rows
  const [own] = await lcrs.list({ where: { account_sid, is_active: 1 }, limit: 1 })
  const [lcr] =
    own === undefined
      ? await lcrs.list({ where: { service_provider_sid, account_sid: null, is_active: 1 }, limit: 1 })
      : [own]
  if (lcr === undefined) return undefined
  const { lcr_sid, default_carrier_set_entry_sid: sid } = lcr
  const orderBy = ['priority', 'created_at'] as const
  const found = await lcr_routes.list({ where: { lcr_sid }, orderBy, limit: maxRoutes })
  await compileInTurns(found.map(({ regex }) => regex))
  const routes: DialRoute[] = []
  for (const { lcr_route_sid, regex } of found) {
    const where = { lcr_route_sid }
    const entries = await lcr_carrier_set_entries.list({ where, orderBy, limit: maxEntries })
    routes.push(toRoute(regex, entries.map(toEntry)))
  }
  const fallback = sid === null ? undefined : await lcr_carrier_set_entries.find(sid)
  return { routes, fallback: fallback === undefined ? undefined : toEntry(fallback) }
}

function toEntry({ voip_carrier_sid, priority, workload }: Row<'lcr_carrier_set_entries'>): RouteEntry {
  return { voip_carrier_sid, priority, workload }
}

/** Converts a route. Its text may also be the literal beginning of a number: `*31#` is not a regular expression. */
function toRoute(regex: string, entries: readonly RouteEntry[]): DialRoute {
  const pattern = compilePattern(regex)
  return {
    regex,
    entries,
    size: pattern?.size ?? 0,
    matches: (number) => number.startsWith(regex) || pattern?.matches(number) === true,
  }
}
