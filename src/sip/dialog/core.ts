// The dependencies that all dialogs and INVITEs of the user agent share, passed in so that tests can replace any of
// them.
import type { Clock } from '../../lib/clock.ts'
import type { Logger } from '../../lib/log.ts'
import { isToken } from '../message/header-names.ts'
import { structuralHeaders } from '../message/reserved-headers.ts'
import { isHeaderSafe } from '../message/serialize-message.ts'
import { allowHeader } from '../message/validate.ts'
import type { HeaderField } from '../message/message.ts'
import type { ContactName } from '../contact.ts'
import { cleanHeaderValue, withReason } from '../refusal.ts'
import type { Binding } from '../registrar/binding-store.ts'
import type { Remote } from '../transport/transports.ts'
import type { Reply } from '../message/reply.ts'
import type { Serves } from '../dialogs.ts'
import type { Timers } from '../timers.ts'
import type { ServerTransaction, TransactionLayer } from '../transaction/transaction.ts'
import type { DialogTable } from './dialog-table.ts'
import type { Seal } from '../own-tags.ts'

export type { ContactName } from '../contact.ts'

export interface Core {
  readonly transactions: TransactionLayer
  readonly dialogs: DialogTable
  readonly clock: Clock
  readonly timers: Timers
  readonly log: Logger
  /** Returns a random number from 0 up to 1. */
  readonly random: () => number
  readonly abilities: Abilities
  readonly seal: Seal | undefined
  /** The value of Server and User-Agent. */
  readonly product: string
  /** Returns the Contact by which `remote` reaches us. */
  contactFor(remote: Remote, name: ContactName): string
  /** Resolves the destination of a request to this URI: RFC 3263. Rejects with `sip_unreachable`. */
  resolve(uri: string): Promise<Remote>
  /** See `Sip.rest`. */
  rest(remote: Remote): void
  /** Returns the registered phones that are reached at this place. */
  phonesAt(remote: Remote): readonly Binding[]
  /**
   * Returns the connection that a phone has registered over since it lost another; undefined if it has not come back.
   */
  flowAgain(phone: Binding): Promise<Remote | undefined>
  /** Returns false for a connection that is not open; true for UDP. */
  isOpen(remote: Remote): boolean
}

// RFC 3261 §20.5: the methods served, and no others. A peer relies on each of them: a peer that finds REFER here uses
// it to transfer its call. UPDATE is RFC 3311, INFO RFC 6086. NOTIFY follows our REFER, PRACK is RFC 3262.
const methodsInDialog = ['INVITE', 'BYE', 'OPTIONS', 'UPDATE', 'INFO', 'NOTIFY', 'PRACK']

export interface Abilities {
  /** The methods that a dialog accepts and Allow lists. */
  readonly allow: readonly string[]
  /** The methods that it accepts only if its owner does, and that Allow does not list. */
  readonly alsoTaken: readonly string[]
  /** The option tags (RFC 3261 §19.2) that a peer may require or use. */
  readonly supported: readonly string[]
  /** The option tags that a peer may require, although Supported does not name them. */
  readonly alsoSupported: readonly string[]
}

export function abilitiesOf({
  referrals = false,
  replaces = false,
  messages = false,
  recordings = false,
}: Serves): Abilities {
  return {
    allow: [...methodsInDialog, ...(referrals ? ['REFER'] : [])],
    alsoTaken: messages ? ['MESSAGE'] : [],
    supported: [
      'path',
      'timer',
      '100rel',
      ...(referrals ? ['norefersub'] : []),
      ...(replaces ? ['replaces'] : []),
    ],
    alsoSupported: recordings ? ['siprec'] : [],
  }
}

export function supportedHeader({ supported }: Abilities): HeaderField {
  return { name: 'supported', value: supported.join(', ') }
}

/**
 * Returns the fields that describe us in final and early-dialog responses to INVITE: RFC 3261 §13.2.1 and §13.3.1.4.
 */
export function capabilityHeaders(core: Core, remote: Remote, contact: ContactName): HeaderField[] {
  return [
    { name: 'contact', value: core.contactFor(remote, contact) },
    allowHeader(core.abilities.allow),
    supportedHeader(core.abilities),
    { name: 'server', value: core.product },
  ]
}

/** Makes a reply from above the stack safe to send: a line break in a value is removed and does not fail the call. */
export function cleanReply(reply: Reply): Reply {
  const reason = reply.reason === undefined ? {} : { reason: cleanHeaderValue(reply.reason) }
  const headers = reply.headers === undefined ? {} : { headers: cleanHeaders(reply.headers) }
  return { ...reply, ...reason, ...headers }
}

export function cleanHeaders(headers: readonly HeaderField[]): readonly HeaderField[] {
  return headers
    .map(({ name, value }) => ({ name: name.toLowerCase(), value }))
    .filter(({ name }) => isToken(name) && !structuralHeaders.has(name))
    .map(({ name, value }) => ({ name, value: isHeaderSafe(value) ? value : cleanHeaderValue(value) }))
}

/** Adds the fields that a reply does not have itself. */
export function withHeaders(reply: Reply, added: readonly HeaderField[]): Reply {
  return { ...reply, headers: mergeHeaders(added, reply.headers ?? []) }
}

/** Merges header fields. A field of the message's owner replaces fields of the stack with the same name. */
export function mergeHeaders(ours: readonly HeaderField[], own: readonly HeaderField[]): HeaderField[] {
  return [...ours.filter(({ name }) => !own.some((field) => field.name === name)), ...own]
}

/** Returns the Retry-After of a 500 to an overlapping request, in seconds: RFC 3261 §14.2 and RFC 3311 §5.2. */
export function randomRetryAfter(random: Core['random']): HeaderField {
  return { name: 'retry-after', value: String(Math.floor(random() * 11)) }
}

/** Renames Server, the field of responses, to User-Agent, the field of requests. */
export function asClient(field: HeaderField): HeaderField {
  return field.name === 'server' ? { ...field, name: 'user-agent' } : field
}

/** The response to OPTIONS within a dialog: RFC 3261 §11.2. */
export const optionsReply: Reply = { status: 200, headers: [{ name: 'accept', value: 'application/sdp' }] }

/** Refuses a request by the stack itself, without calling the owner of the dialog. */
export function refuse(transaction: Pick<ServerTransaction, 'respond'>, status: number): void {
  transaction.respond(withReason({ status }))
}
