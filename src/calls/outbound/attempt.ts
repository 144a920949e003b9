// One place an INVITE of ours may go to, and what stands in it.
import type { OutgoingInviteOptions, Remote } from '../../sip/sip.ts'
import type { CallServices } from '../call-services.ts'
import type { JournalWriter } from '../journal/journal-writer.ts'
import type { CallOrder } from './call-order.ts'

/** Places that are tried together. */
export type Round = readonly Attempt[]

export type AttemptInvite = Pick<
  OutgoingInviteOptions,
  'uri' | 'to' | 'from' | 'contactUser' | 'headers' | 'routes' | 'credentials' | 'mayReach'
>

export interface Attempt {
  /** What the call record calls the way out: a carrier's name, `user` or `sipUri` (calls.md §8). */
  readonly trunk: string
  /** What the journal calls it. */
  readonly place: string
  /** `host` is our address as the place sees it: what From says when nothing else does. */
  readonly invite: (host: string) => AttemptInvite
  /** Where the request is sent. Rejects with AppError when there is no such place, or none that may be called. */
  readonly destination: () => Promise<Remote>
}

/** What is looked for places with. */
export interface Search {
  readonly order: CallOrder
  readonly services: CallServices
  readonly journal: JournalWriter
}
