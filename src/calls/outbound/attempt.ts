// One place that an INVITE may be sent to, and what stands in it.
import type { OutgoingInviteOptions, RedirectTarget, Resolved } from '../../sip/sip.ts'
import type { KeyWay, OfferedProtection } from '../../media/media.ts'
import type { CallServices } from '../call-services.ts'
import type { AttemptFact, AttemptPlaces } from '../journal/attempt-facts.ts'
import type { JournalWriter } from '../journal/journal-writer.ts'
import type { CallOrder } from './call-order.ts'

/** Places that are tried together. */
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
  /** The way out in the call record: a carrier's name, `user` or `sipUri`. */
  readonly trunk: string
  /** What the journal calls it. */
  readonly place: string
  /** The sid of the gateway that is there, where it is one of a carrier. */
  readonly gateway?: string
  /** It is a phone that has registered here. */
  readonly isPhone?: true
  /** The FQDN of the Microsoft Teams tenant that is called. */
  readonly tenant?: string
  /** By which it is known whether the place is well, where that is not `gateway`. */
  readonly watchedAs?: string
  /** The user part of the Request-URI, with the context of its number: where it goes to a carrier, what the carrier is to dial. */
  readonly dialled?: string
  /** How keys go there; as RTP events when left out. */
  readonly keyWay?: KeyWay
  /** `host` is the address of the platform as the place sees it: what From says when nothing else does. */
  readonly invite: (host: string) => AttemptInvite
  /** How its media is offered; plain when left out. */
  readonly protection?: OfferedProtection | undefined
  /** How it is offered again where that was refused with 488. */
  readonly protectionAgain?: OfferedProtection | undefined
  /** Where the request is sent, and where else when that says nothing. Rejects with AppError when there is no such place, or none that may be called. */
  readonly destination: () => Promise<Resolved>
  /** The places that a 3xx of this one leads to: those that its owner may call. Rejects with AppError where there are none. */
  readonly redirect?: (target: RedirectTarget) => Promise<Round>
}

/** What the journal calls the place. */
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

/** Everything that the search for places needs. */
export interface Search {
  readonly order: CallOrder
  readonly services: CallServices
  readonly journal: JournalWriter
}
