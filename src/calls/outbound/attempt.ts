// One place to which an INVITE may be sent, and the fields of that INVITE.
import type { OutgoingInviteOptions, RedirectTarget, Resolved } from '../../sip/sip.ts'
import type { KeyWay, OfferedProtection } from '../../media/media.ts'
import type { AttemptFact, AttemptPlaces } from '../journal/attempt-facts.ts'
import type { JournalWriter } from '../journal/journal-writer.ts'
import type { CallOrder } from './call-order.ts'
import type { OutboundNeeds } from './needs.ts'

/** The places that are tried at the same time. */
export type Round = readonly Attempt[]

export type AttemptInvite = Pick<
  OutgoingInviteOptions,
  | 'uri'
  | 'to'
  | 'from'
  | 'contactUser'
  | 'contactHost'
  | 'headers'
  | 'routes'
  | 'credentials'
  | 'mayReach'
  | 'takesUntagged'
  | 'user'
>

export interface Attempt {
  /** The trunk in the call record: a carrier's name, `user` or `sipUri`. */
  readonly trunk: string
  /** The name of the place in the journal. */
  readonly place: string
  /** The sid of the gateway, if the place is one of a carrier. */
  readonly gateway?: string | undefined
  /** Set for a phone that has registered here. */
  readonly isPhone?: true
  /** The FQDN of the called Microsoft Teams tenant. */
  readonly tenant?: string
  /** The key under which the state of the place is watched, if it is not `gateway`. */
  readonly watchedAs?: string
  /** The number that a carrier would dial: see `dialledIn`. Left out where there is none. */
  readonly dialled?: string | undefined
  /** The way in which keys are sent there. RTP events when left out. */
  readonly keyWay?: KeyWay | undefined
  /** Returns the INVITE. `host`, the platform's address as the place sees it, is in From if nothing else is. */
  readonly invite: (host: string) => AttemptInvite
  /** The media encryption that is offered. Left out: plain RTP. */
  readonly protection?: OfferedProtection | undefined
  /** The second offer, after a refusal with 488. */
  readonly protectionAgain?: OfferedProtection | undefined
  /** Resolves with the address, and others if it is silent. Rejects with AppError if none exists or may be called. */
  readonly destination: () => Promise<Resolved>
  /** Resolves with the places of a 3xx response that the owner may call. Rejects with AppError if there are none. */
  readonly redirect?: (target: RedirectTarget) => Promise<Round>
}

/** Returns the names of the place in the journal. */
export function namesOf({
  trunk,
  place,
  gateway,
  tenant,
}: Attempt): Pick<AttemptFact, 'trunk' | 'place' | 'sip_gateway_sid' | 'ms_teams_tenant'> {
  return {
    trunk,
    place,
    ...(gateway === undefined ? {} : { sip_gateway_sid: gateway }),
    ...(tenant === undefined ? {} : { ms_teams_tenant: tenant }),
  }
}

export function attemptFact(attempt: Attempt, places: AttemptPlaces): AttemptFact {
  const phone = attempt.isPhone === true ? { is_phone: true as const } : {}
  return { type: 'attempt', ...namesOf(attempt), ...phone, ...places }
}

/** The input of the search for places. */
export interface Search {
  readonly order: CallOrder
  readonly needs: OutboundNeeds
  readonly journal: JournalWriter
}
