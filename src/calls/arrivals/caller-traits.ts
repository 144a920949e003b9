// The differences between callers: a user, a carrier, Microsoft Teams, a recording client. Everything else is the same for
// all calls.
import type { StartedFact } from '../journal/journal.ts'
import type { OfferedKeys } from '../../media/media.ts'
import type { CarrierFacts } from '../ports.ts'
import type { IncomingInvite, Remote } from '../../sip/sip.ts'
import { carrierOf, tenantOf, trunkOf, type OwnedIdentity } from '../inbound/identity.ts'
import type { RecordedParties } from '../parties/recorded-parties.ts'
import { apartFromPhones, reachableFor } from '../reachable-places.ts'
import type { ArrivalNeeds } from './needs.ts'
import { recordingArrival } from './recording-arrival.ts'

export interface CallerTraits {
  /** Whether requests within the call may be sent there. */
  readonly reaches: (place: Remote) => boolean
  /** See `tenantMedia`. */
  readonly peers: ReadonlySet<string> | undefined
  readonly digitsBy: NonNullable<CarrierFacts['dtmf_type']>
  readonly protection?: OfferedKeys
  /** The host in our Contact, if it must be a name. */
  readonly contactName?: string
  readonly facts: Pick<StartedFact, 'trunk' | 'originating_sip_trunk_name' | 'ms_teams_tenant'>
  /** Set for a recording session. */
  readonly recording?: RecordedParties | undefined
}

export function traitsOf(
  identity: OwnedIdentity,
  invite: Pick<IncomingInvite, 'request' | 'remote' | 'tagContact'>,
  needs: ArrivalNeeds,
): CallerTraits {
  const trunk = trunkOf(identity)
  if (trunk === undefined) return ofUser(identity, invite, needs)
  const ofTrunk = { digitsBy: 'rfc2833', facts: { trunk, originating_sip_trunk_name: trunk } } as const
  const tenant = tenantOf(identity)
  if (tenant !== undefined)
    return {
      ...ofTrunk,
      reaches: ({ address }) => needs.teams.isAddress(address),
      peers: new Set([invite.remote.address]),
      protection: { sdes: 'required' },
      contactName: tenant.tenant_fqdn,
      facts: { ...ofTrunk.facts, ms_teams_tenant: tenant.tenant_fqdn },
    }
  return {
    ...ofTrunk,
    // Many gateways of carriers have private addresses.
    reaches: apartFromPhones(identity.account, needs),
    peers: undefined,
    digitsBy: carrierOf(identity)?.dtmf_type ?? 'rfc2833',
    recording: recordingArrival(identity, invite),
  }
}

function ofUser(
  { account }: OwnedIdentity,
  { remote: { address } }: Pick<IncomingInvite, 'remote'>,
  needs: ArrivalNeeds,
): CallerTraits {
  return {
    reaches: reachableFor(address, account, needs),
    peers: new Set([address]),
    digitsBy: 'rfc2833',
    facts: { trunk: 'user' },
  }
}
