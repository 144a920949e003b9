// The identity of a caller: the account, the rules that found it, and the origin of the call.
import { AppError } from '../../lib/errors.ts'
import type { Alert } from '../../contracts/alert.ts'
import type { IncomingInvite, SipUser } from '../../sip/sip.ts'
import type { AccountFacts, CarrierFacts, TeamsTenantFacts } from '../ports.ts'
import { teamsTrunk } from '../leg/teams-trunk.ts'
import { toRefusal, type Refusal } from '../journal/refusals.ts'
import type { CarrierRoute } from '../routing/carrier-call.ts'
import type { Decision } from '../journal/decision.ts'
import type { Asked } from '../parties/asked.ts'

/** An INVITE whose caller is not identified yet, with what it asks for. */
export interface UnknownInvite extends Pick<IncomingInvite, 'request' | 'remote' | 'reject'> {
  readonly asked: Asked
  /**
   * Counts the call for the account that pays for it, once. Throws AppError account_share or overloaded if it may not
   * begin now.
   */
  charge(account_sid: string): void
}

export type Origin =
  | {
      readonly kind: 'user'
      readonly user: SipUser
      /** The value of X-Application-Sid in the INVITE. */
      readonly named_application_sid?: string | undefined
    }
  | {
      readonly kind: 'carrier'
      readonly carrier: CarrierFacts
      readonly application: CarrierRoute['application']
      /** Whether the called number is a phone number here, or matches a pattern. */
      readonly isNumberKnown: boolean
      /** True for a recording session: the streams of a call that is up elsewhere. */
      readonly isRecording: boolean
    }
  | { readonly kind: 'teams'; readonly tenant: TeamsTenantFacts }

interface OfAccount {
  readonly account: AccountFacts
  /** In the order in which they were made. They open the journal. */
  readonly decisions: readonly Decision[]
}

/**
 * `unknown_realm`: the called host is not the realm of an account, so the caller may be a carrier whose address is not
 * configured. `locked_out`: a phone has sent too many wrong passwords.
 */
export type LoggedRefusal = 'unknown_realm' | 'locked_out'

export type Identity =
  /** The INVITE has its final response. No account is known, so no record is kept. */
  | {
      readonly kind: 'turned-away'
      /** Set if the log has a line about it: an operator or a user looks for the call. */
      readonly logged?: LoggedRefusal | undefined
      /** Set if the service provider of the carrier has to know: no account has a record of the call. */
      readonly alert?: Alert | undefined
    }
  | ({
      readonly kind: 'refused'
      readonly carrier: CarrierFacts | undefined
      /** The tenant of a call from Microsoft Teams. */
      readonly tenant?: TeamsTenantFacts
      readonly refusal: Refusal
    } & OfAccount)
  | ({ readonly kind: 'known'; readonly origin: Origin } & OfAccount)

/** An INVITE whose account is known: it gets a record. */
export type OwnedIdentity = Exclude<Identity, { kind: 'turned-away' }>

export function carrierOf(identity: OwnedIdentity): CarrierFacts | undefined {
  if (identity.kind === 'refused') return identity.carrier
  return identity.origin.kind === 'carrier' ? identity.origin.carrier : undefined
}

export function tenantOf(identity: OwnedIdentity): TeamsTenantFacts | undefined {
  if (identity.kind === 'refused') return identity.tenant
  return identity.origin.kind === 'teams' ? identity.origin.tenant : undefined
}

/** Returns the trunk as the record names it, or undefined for a user. */
export function trunkOf(identity: OwnedIdentity): string | undefined {
  return tenantOf(identity) === undefined ? carrierOf(identity)?.name : teamsTrunk
}

export function inactiveAccount(): Refusal {
  return toRefusal(new AppError('account_inactive', 'Account exists but is inactive'))
}
