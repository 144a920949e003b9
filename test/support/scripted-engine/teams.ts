// Tenants of Microsoft Teams in a scripted engine, and calls from them.
import type { TeamsTenantFacts } from '../../../src/calls/ports.ts'
import { account, application } from './scripted-facts.ts'
import type { ScriptedInviteOptions } from './scripted-sip.ts'

export const fqdn = 'acme.teams.example.com'

export function tenantOf(facts: Partial<TeamsTenantFacts> = {}): TeamsTenantFacts {
  const { tenant_fqdn = fqdn } = facts
  return {
    ms_teams_tenant_sid: `tenant ${tenant_fqdn}`,
    tenant_fqdn,
    ping_fqdn: tenant_fqdn,
    account_sid: account.account_sid,
    application_sid: application.application_sid,
    ...facts,
  }
}

export const encrypted = 'v=0\r\nm=audio 4000 RTP/SAVP 0\r\na=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:key\r\n'

/** Returns an INVITE from an address of Microsoft. */
export function fromTeams(changes: Partial<ScriptedInviteOptions> = {}): Partial<ScriptedInviteOptions> {
  return { to: `+15550100@${fqdn}`, transport: 'tls', address: '192.0.2.201', body: encrypted, ...changes }
}
