// The resource MicrosoftTeamsTenant: an organisation whose calls arrive by direct routing under a domain name.
import { systemTenancy } from '../contracts/caller.ts'
import { AppError } from '../lib/errors.ts'
import { demandProof } from './accounts/realm-rules.ts'
import type { RecordContext } from './define/request.ts'
import { recordSid, sid } from './define/fields.ts'
import { defineResource } from './define/resource.ts'
import { fullDomainName } from './define/sip-fields.ts'

export const microsoftTeamsTenants = defineResource({
  name: 'MicrosoftTeamsTenant',
  noun: 'Microsoft Teams tenant',
  path: '/MicrosoftTeamsTenants',
  parameter: 'TenantSid',
  summary: 'A Microsoft Teams organisation that is reached by direct routing.',
  table: 'ms_teams_tenants',
  owner: 'tenant',
  operations: ['list', 'create', 'read', 'update', 'delete'],
  errors: { create: ['realm_not_proven'], update: ['realm_not_proven'] },
  fields: {
    ms_teams_tenant_sid: recordSid(),
    service_provider_sid: sid('service_providers')
      .fixedAfterCreate()
      .describe('May be left out by callers that have one.'),
    account_sid: sid('accounts').optional().describe('The account of its users.'),
    application_sid: sid('applications')
      .optional()
      .describe('The application that runs its calls; needs an account.'),
    tenant_fqdn: fullDomainName({ max: 255 })
      .describe(
        'The FQDN that the SBC has for this organisation in the Teams admin centre: calls to this name belong to the organisation, and calls to the organisation have it in From and Contact. The certificate of the platform must name it. Unique; in lower case. An account may take a name below `ms_teams_fqdn` of its provider, its own SIP realm, or a name with a TXT record `_switchhook.<name>` that has `switchhook-account=<its sid>`; without an `ms_teams_fqdn`, also one that leads to no address of the platform.',
      )
      .example('acme.teams.example.com'),
  },
  async beforeCreate({ tenant_fqdn, account_sid = null, service_provider_sid }, context) {
    await demandFreeName(tenant_fqdn, { account_sid, service_provider_sid }, context)
  },
  async beforeUpdate(changes, { account_sid, service_provider_sid, tenant_fqdn }, context) {
    const owner = changes.account_sid === undefined ? account_sid : changes.account_sid
    // The name may be free to the account that the tenant leaves, but not to its new account.
    if (changes.tenant_fqdn === undefined && owner === account_sid) return
    const name = changes.tenant_fqdn ?? tenant_fqdn
    await demandFreeName(name, { account_sid: owner, service_provider_sid }, context)
  },
})

interface Owner {
  readonly account_sid: string | null | undefined
  readonly service_provider_sid: string | null | undefined
}

/**
 * Throws duplicate, or realm_not_proven for an account. Calls from Microsoft to the name become the tenant's: no account may get those of another by naming
 * its domain.
 */
async function demandFreeName(
  tenant_fqdn: string,
  { account_sid, service_provider_sid }: Owner,
  { caller, services }: Pick<RecordContext, 'caller' | 'services'>,
): Promise<void> {
  const { accounts, ms_teams_tenants, service_providers } = services.storage.for(systemTenancy)
  const [realm] = await accounts.list({ where: { sip_realm: tenant_fqdn }, limit: 1 })
  if (realm !== undefined && realm.account_sid !== account_sid)
    throw new AppError('duplicate', `${tenant_fqdn} is the SIP realm of another account`)
  const labels = tenant_fqdn.split('.')
  for (const index of labels.keys()) {
    const ms_teams_fqdn = labels.slice(index).join('.')
    const [provider] = await service_providers.list({ where: { ms_teams_fqdn }, limit: 1 })
    if (provider !== undefined && provider.service_provider_sid !== service_provider_sid)
      throw new AppError('duplicate', `${ms_teams_fqdn} is the ms_teams_fqdn of another service provider`)
  }
  if (await services.realmFacts.isCalledByOthers(tenant_fqdn, account_sid ?? ''))
    throw new AppError('duplicate', `carriers of other accounts call ${tenant_fqdn}`)
  if (caller.tenancy.level !== 'account' || realm !== undefined) return
  // A name that another tenant has is refused as a duplicate.
  if ((await ms_teams_tenants.count({ where: { tenant_fqdn } })) > 0) return
  const account = caller.tenancy
  const provider = await service_providers.find(account.service_provider_sid)
  const root = provider?.ms_teams_fqdn ?? undefined
  await demandProof({ field: 'tenant_fqdn', name: tenant_fqdn, root, account, isKept: false }, services)
}
