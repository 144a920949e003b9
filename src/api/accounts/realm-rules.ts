// The host name that an account may have as its SIP realm. Calls to the name become the account's, so the account must
// prove that it owns the name, or the operator of the platform must have given it the name.
import { systemTenancy } from '../../contracts/caller.ts'
import { AppError } from '../../lib/errors.ts'
import type { RecordContext } from '../define/request.ts'

export interface RealmClaim {
  readonly realm: string
  /** Undefined while the account is being made, which an account cannot do. */
  readonly account: { readonly account_sid: string; readonly service_provider_sid: string } | undefined
}

type Asking = Pick<RecordContext, 'caller' | 'services'>

/**
 * Throws realm_not_proven, which names the record that would prove it, or bad_request for a name that no account may
 * have.
 */
export async function demandRealm({ realm, account }: RealmClaim, asking: Asking): Promise<void> {
  const { caller, services } = asking
  const { realmFacts: realms } = services
  // RFC 6761 §6.3: localhost is each machine's own name. Addresses are not host names anyway.
  if (realm === 'localhost' || realm.endsWith('.localhost') || realms.reserved.has(realm))
    throw new AppError('bad_request', `${realm} is a name of the platform itself and cannot be a SIP realm`)
  if (caller.tenancy.level !== 'account' || account === undefined) return
  const { service_provider_sid } = account
  const provider = await services.storage.for(systemTenancy).service_providers.find(service_provider_sid)
  const root = provider?.root_domain ?? undefined
  const isKept = realms.zone !== undefined && realm.endsWith(`.${realms.zone}`)
  await demandProof({ field: 'SipRealm', name: realm, root, account, isKept }, services)
}

export interface NameClaim {
  /** The name of the field in sentences. */
  readonly field: string
  readonly name: string
  /** The domain of the provider below which its accounts may take names. */
  readonly root: string | undefined
  readonly account: NonNullable<RealmClaim['account']>
  /** Whether the platform makes the record of the name itself, which shows whether it is free. */
  readonly isKept: boolean
}

/** Throws realm_not_proven unless the account may have the host name: its calls become those of the account. */
export async function demandProof(claim: NameClaim, services: RecordContext['services']): Promise<void> {
  const { name: realm, account } = claim
  const { account_sid } = account
  const { realmFacts: realms } = services
  const fault = (await neighbourOf({ realm, account }, services)) ?? (await faultOf(claim, realms))
  if (fault === undefined) return
  const name = `_switchhook.${realm}`
  const value = `switchhook-account=${account_sid}`
  if ((await realms.texts(name)).includes(value)) return
  throw new AppError(
    'realm_not_proven',
    `${fault}; a TXT record ${name} with "${value}" would prove that it is yours`,
  )
}

/**
 * Returns a fault if the realm is, or lies below, another owner's name: people and DNS wildcards treat calls there as
 * that owner's.
 */
async function neighbourOf(
  { realm, account }: Required<RealmClaim>,
  { storage }: Pick<RecordContext['services'], 'storage'>,
): Promise<string | undefined> {
  const { accounts, service_providers, ms_teams_tenants } = storage.for(systemTenancy)
  const [tenant] = await ms_teams_tenants.list({ where: { tenant_fqdn: realm }, limit: 1 })
  if (tenant !== undefined && tenant.account_sid !== account?.account_sid)
    return `${realm} is the Microsoft Teams tenant of another account`
  for (const name of [realm, ...parentsOf(realm)]) {
    const [provider] = await service_providers.list({ where: { root_domain: name }, limit: 1 })
    if (provider !== undefined && provider.service_provider_sid !== account?.service_provider_sid)
      return `${name} is the root domain of another service provider`
    // The realm itself is refused as a duplicate where another account has it.
    const [owner] = name === realm ? [] : await accounts.list({ where: { sip_realm: name }, limit: 1 })
    if (owner !== undefined && owner.account_sid !== account?.account_sid)
      return `${name} is the SIP realm of another account`
  }
  return undefined
}

/** Returns `b.example` and `example` for `a.b.example`, nothing for `a`. A realm is a host name, so there are few. */
function parentsOf(realm: string): readonly string[] {
  const labels = realm.split('.')
  return labels.slice(1).map((_, index) => labels.slice(index + 1).join('.'))
}

/** Returns why the account may not have the name without a proof, or undefined. */
async function faultOf(
  { field, name, root, account, isKept }: NameClaim,
  realms: RecordContext['services']['realmFacts'],
): Promise<string | undefined> {
  const isBelowRoot = root !== undefined && name.endsWith(`.${root}`)
  if (root !== undefined && !isBelowRoot) return `${field} does not lie below ${root}`
  if (await realms.isCalledByOthers(name, account.account_sid))
    return `carriers of other accounts call ${name}`
  // Below its domain, the provider may let every name lead here, taken or not. In a zone of this platform, making the
  // records shows whether the name is free.
  if (!isBelowRoot && !isKept && (await realms.leadsToUs(name))) return `${name} leads to this platform`
  return undefined
}
