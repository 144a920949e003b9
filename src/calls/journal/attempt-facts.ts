// The facts about the places to which a call is sent, one after another or several at the same time.
import type { CallAttempt } from '../../contracts/call-record.ts'

/** The two ends of an INVITE that was sent. */
export type AttemptPlaces = {
  readonly remote_host: string
  /** The address of the platform as the remote host sees it. */
  readonly host: string
  readonly local_sip_address: string
}

/** An INVITE has been sent. The record of the leg names the place of the last one. */
export type AttemptFact = AttemptPlaces & {
  readonly type: 'attempt'
  /** A carrier's name, `user` or `sipUri`. */
  readonly trunk: string
  /** The gateway, the phone or the URI. */
  readonly place: string
  readonly sip_gateway_sid?: string
  /** Set for a phone that has registered here. `trunk` does not identify one, since a carrier may have any name. */
  readonly is_phone?: true
  /** The FQDN of the called Microsoft Teams tenant. */
  readonly ms_teams_tenant?: string
}

/** The outcome of one INVITE at one place. */
export type AttemptEndedFact = CallAttempt & { readonly type: 'attempt-ended' }

/** Several places of an attempt rang together, and this one answered. */
export type BranchAnsweredFact = AttemptPlaces & { readonly type: 'branch-answered' }
