// The places to try for a call to Microsoft Teams: its proxies in turn, on behalf of a tenant of the account.
import { AppError } from '../../lib/errors.ts'
import { escapeUser, serializeHostPort } from '../../sip/message/uri.ts'
import { knownAs, transports } from '../../sip/transport/transports.ts'
import { toDecision } from '../journal/decision.ts'
import { teamsProxyKey } from '../../contracts/teams.ts'
import type { TeamsProxy, TeamsTenantFacts } from '../ports.ts'
import { orAll } from '../routing/phone-call.ts'
import type { RuleName } from '../routing/rules.ts'
import { teamsTrunk } from '../leg/teams-trunk.ts'
import type { Attempt, Round, Search } from './attempt.ts'
import { callerFields } from './caller-identity.ts'
import type { TargetOf } from '../verb/target.ts'

/** Returns the proxies to try. Throws AppError unknown_teams_tenant or teams_not_ready. */
export async function toTeams(to: TargetOf<'teams'>, search: Search): Promise<readonly Round[]> {
  const { needs, journal } = search
  const { teams, trunks } = needs
  const tenant = await tenantFor(to, search)
  teams.demandReady(tenant.tenant_fqdn)
  const isUp = (proxy: TeamsProxy): boolean => trunks.isUp(teamsProxyKey(tenant.ping_fqdn, proxy))
  const usable = orAll(teams.proxies, isUp)
  const down = teams.proxies.filter((proxy) => !usable.includes(proxy)).map(({ host }) => host)
  if (down.length > 0) journal.note(toDecision({ rule: 'teams-proxy-down', outcome: down.join(', ') }))
  return usable.map((proxy) => [toAttempt(to, { tenant, proxy }, search)])
}

/** Returns the tenant on whose behalf the call is made. It is never one of another account. */
async function tenantFor({ tenant }: TargetOf<'teams'>, search: Search): Promise<TeamsTenantFacts> {
  const { order, needs, journal } = search
  const { account_sid } = order.account
  const own = await needs.directory.teamsTenantsOf(account_sid)
  const choice = chooseTenant(own, tenant, order.parent?.ms_teams_tenant)
  const chosen = choice?.tenant
  if (chosen === undefined || chosen.account_sid !== account_sid) {
    const error = noTenant(own, tenant)
    journal.note(toDecision({ rule: 'teams-no-tenant', outcome: error.message, code: error.code }))
    throw error
  }
  journal.note(toDecision({ rule: choice?.rule ?? 'teams-no-tenant', outcome: chosen.tenant_fqdn }))
  return chosen
}

/** Chooses the tenant: the named one, that of the dialling call (`ofCaller`), or the only one. */
export function chooseTenant(
  own: readonly TeamsTenantFacts[],
  named: string | undefined,
  ofCaller: string | undefined,
): { readonly rule: RuleName; readonly tenant: TeamsTenantFacts } | undefined {
  const byName = (name: string): TeamsTenantFacts | undefined =>
    own.find(({ tenant_fqdn }) => tenant_fqdn === name.toLowerCase())
  const found = (rule: RuleName, tenant: TeamsTenantFacts | undefined): ReturnType<typeof chooseTenant> =>
    tenant && { rule, tenant }
  if (named !== undefined && named !== '') return found('teams-named-tenant', byName(named))
  const calling = ofCaller === undefined ? undefined : byName(ofCaller)
  if (calling !== undefined) return found('teams-tenant-of-caller', calling)
  return own.length === 1 ? found('teams-only-tenant', own[0]) : undefined
}

// The most characters of an unknown name that a sentence shows.
const maxNameChars = 64

function noTenant(own: readonly TeamsTenantFacts[], named: string | undefined): AppError {
  const code = 'unknown_teams_tenant'
  if (named !== undefined && named !== '')
    return new AppError(
      code,
      `the account has no Microsoft Teams tenant ${JSON.stringify(named.slice(0, maxNameChars))}`,
    )
  if (own.length === 0) return new AppError(code, 'the account has no Microsoft Teams tenant')
  return new AppError(
    code,
    `the account has ${own.length} Microsoft Teams tenants, and the target names none`,
    {
      cure: 'Name the one that is meant in tenant, by its tenant_fqdn.',
    },
  )
}

interface Way {
  readonly tenant: TeamsTenantFacts
  readonly proxy: TeamsProxy
}

function toAttempt(to: TargetOf<'teams'>, { tenant, proxy }: Way, { order, needs }: Search): Attempt {
  const { tenant_fqdn, ping_fqdn } = tenant
  const uri = to.uri ?? uriAt(proxy, to)
  return {
    trunk: teamsTrunk,
    place: placeOf(proxy),
    tenant: tenant_fqdn,
    watchedAs: teamsProxyKey(ping_fqdn, proxy),
    protection: { sdes: 'required' },
    invite: () => ({
      // A From with another name would be that of another tenant.
      ...callerFields({ ...order, fromHost: tenant_fqdn }, tenant_fqdn),
      contactHost: tenant_fqdn,
      uri,
      to: uri,
      mayReach: ({ address }) => needs.teams.isAddress(address),
    }),
    // The operator has configured the proxies, so they may be at any address.
    destination: async () => {
      const found = await needs.sip().resolve(`sip:${serializeHostPort(proxy)};transport=tls`)
      const { alternatives = [] } = found
      return {
        ...knownAs(found, tenant_fqdn),
        alternatives: alternatives.map((place) => knownAs(place, tenant_fqdn)),
      }
    },
  }
}

/** Returns the Request-URI. Microsoft requires user=phone for a telephone number, and does not accept sips. */
function uriAt(proxy: TeamsProxy, { number, isVoiceMail }: TargetOf<'teams'>): string {
  const phone = /^\+?\d+$/.test(number) ? ';user=phone' : ''
  const mail = isVoiceMail === true ? ';opaque=app:voicemail' : ''
  return `sip:${escapeUser(number)}@${serializeHostPort(proxy)};transport=tls${phone}${mail}`
}

function placeOf({ host, port }: TeamsProxy): string {
  return serializeHostPort({ host, port: port === transports.tls.defaultPort ? undefined : port })
}
