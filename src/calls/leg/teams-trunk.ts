// The name of the Microsoft Teams trunk in records and journals, and the tenant that a leg belongs to.
import type { Leg } from './leg.ts'

export const teamsTrunk = 'Microsoft Teams'

/** Returns the FQDN of the tenant at the far end of the leg, or undefined if the far end is not a tenant. */
export function teamsTenantOf({ journal }: Pick<Leg, 'journal'>): string | undefined {
  const { started, attempt } = journal.facts
  return attempt?.ms_teams_tenant ?? started.ms_teams_tenant
}

/** Returns whether the far ends of both legs are the same tenant of the same account. */
export function isOfOneTenant(one: Pick<Leg, 'journal'>, other: Pick<Leg, 'journal'>): boolean {
  const tenant = teamsTenantOf(one)
  const accountOf = ({ journal }: Pick<Leg, 'journal'>): string => journal.facts.started.account_sid
  return tenant !== undefined && tenant === teamsTenantOf(other) && accountOf(one) === accountOf(other)
}
