// How records and journals name the way to and from Microsoft Teams, and which tenant a leg is of.
import type { Leg } from './leg/leg.ts'

export const teamsTrunk = 'Microsoft Teams'

/** The FQDN of the tenant that the far end of the leg is; undefined where it is another. */
export function teamsTenantOf({ journal }: Pick<Leg, 'journal'>): string | undefined {
  const { started, attempt } = journal.facts
  return attempt?.ms_teams_tenant ?? started.ms_teams_tenant
}

/** Whether both have the same tenant of one account at their far ends. */
export function isOfOneTenant(one: Pick<Leg, 'journal'>, other: Pick<Leg, 'journal'>): boolean {
  const tenant = teamsTenantOf(one)
  const accountOf = ({ journal }: Pick<Leg, 'journal'>): string => journal.facts.started.account_sid
  return tenant !== undefined && tenant === teamsTenantOf(other) && accountOf(one) === accountOf(other)
}
