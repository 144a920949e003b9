// All the API says about a Microsoft Teams tenant: whose calls arrive by direct routing under a domain name.
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
  fields: {
    ms_teams_tenant_sid: recordSid(),
    service_provider_sid: sid('service_providers')
      .fixedAfterCreate()
      .describe('May be left out by those who have one.'),
    account_sid: sid('accounts').optional().describe('The account whose users they are.'),
    application_sid: sid('applications').optional().describe('Runs for its calls; needs an account.'),
    tenant_fqdn: fullDomainName({ max: 255 })
      .describe('Unique; in lower case.')
      .example('acme.teams.example.com')
      .notServed('Microsoft Teams'),
  },
})
