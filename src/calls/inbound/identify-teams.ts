// A call from Microsoft Teams: identified by Microsoft's signalling addresses, by TLS, and by the tenant that it calls.
import { AppError } from '../../lib/errors.ts'
import type { Decision } from '../journal/decision.ts'
import { failureOf } from '../journal/projection.ts'
import { toRefusal, toStackRefusal, type Refusal } from '../journal/refusals.ts'
import type { TeamsTenantFacts } from '../ports.ts'
import { inactiveAccount, type Identity, type UnknownInvite } from './identity.ts'
import type { InboundNeeds } from './needs.ts'

type Means = Pick<InboundNeeds, 'directory' | 'teams' | 'log'>

/** Returns undefined if no tenant is called; then a carrier or a user may be calling. */
export async function identifyTeams(invite: UnknownInvite, means: Means): Promise<Identity | undefined> {
  if (!isFromTeams(invite, means)) return undefined
  const host = invite.asked.calledHost
  const tenant = host === undefined ? undefined : await means.directory.teamsTenant(host)
  if (tenant === undefined) return undefined
  const account = tenant.account_sid === null ? undefined : await means.directory.account(tenant.account_sid)
  if (account === undefined) return turnAway(invite, noAccount(tenant), means)
  const { tenant_fqdn } = tenant
  const decisions: Decision[] = [{ rule: 'caller-teams', outcome: tenant_fqdn }]
  const settled = { account, decisions, carrier: undefined, tenant } as const
  if (!account.is_active) return { kind: 'refused', ...settled, refusal: inactiveAccount() }
  // Microsoft always offers keys, so an offer without them was changed on its way. If there is no offer, the platform offers keys.
  if (!invite.asked.mayBeEncrypted) return { kind: 'refused', ...settled, refusal: plainAudio() }
  return { kind: 'known', account, decisions, origin: { kind: 'teams', tenant } }
}

/**
 * Refuses a call from the addresses of Microsoft for which there is neither a tenant nor a carrier. The caller cannot
 * be a user, so the response names the missing setting instead of a challenge.
 */
export function refuseStrayTeams(invite: UnknownInvite, means: Means): Identity | undefined {
  if (!isFromTeams(invite, means)) return undefined
  const host = invite.asked.calledHost ?? 'no host'
  return turnAway(invite, new AppError('unknown_teams_tenant', `no Microsoft Teams tenant ${host}`), means)
}

function isFromTeams({ asked }: UnknownInvite, { teams }: Means): boolean {
  return asked.isProvenAddress && teams.isAddress(asked.source)
}

function turnAway(invite: UnknownInvite, error: AppError, means: Means): Identity {
  const { reply, fact } = toRefusal(error)
  means.log.info({ ...failureOf(fact), remote: invite.asked.source }, 'call from Microsoft Teams refused')
  invite.reject({ ...reply, isUnproven: true })
  return { kind: 'turned-away' }
}

function noAccount({ tenant_fqdn }: TeamsTenantFacts): AppError {
  return new AppError('unknown_teams_tenant', `the Microsoft Teams tenant ${tenant_fqdn} has no account`, {
    cure: 'Set account_sid and application_sid of the tenant.',
  })
}

function plainAudio(): Refusal {
  return toRefusal(
    new AppError('media_not_acceptable', 'calls with Microsoft Teams are encrypted by SRTP alone', {
      cure: 'Look at what stands between Microsoft and the platform: the offer came without an a=crypto line.',
    }),
  )
}

/** Refuses a tenant without an application by 404, which Microsoft distinguishes from a user who is not there. */
export function noTeamsApplication(): Refusal {
  const code = 'no_application'
  const { reply } = toRefusal(new AppError(code, 'no configured application'))
  const { fact } = toStackRefusal(code, { ...reply, status: 404 })
  const cure = 'Set application_sid of the Microsoft Teams tenant.'
  return { reply: { ...reply, status: 404 }, fact: { ...fact, cure } }
}
