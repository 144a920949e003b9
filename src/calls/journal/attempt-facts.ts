// Facts of the places that a call is sent to, one after another or several at once.
import type { CallAttempt } from '../../contracts/call-record.ts'

/** The two ends of an INVITE that was sent. */
export type AttemptPlaces = {
  readonly remote_host: string
  /** The address of the platform as that host sees it. */
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
  /** It is a phone that has registered here; `trunk` does not say so, as a carrier may have any name. */
  readonly is_phone?: true
  /** The FQDN of the Microsoft Teams tenant that is called. */
  readonly ms_teams_tenant?: string
}

/** What came of one INVITE, at one place. */
export type AttemptEndedFact = CallAttempt & {
  readonly type: 'attempt-ended'
  readonly outcome: Exclude<CallAttempt['outcome'], 'withdrawn'>
}

/** Several places of an attempt rang together, and this one answered. */
export type BranchAnsweredFact = AttemptPlaces & { readonly type: 'branch-answered' }
