// What every dialog and every INVITE of the user agent shares: handed in, so that tests can replace any of it.
import type { Clock } from '../../lib/clock.ts'
import type { Logger } from '../../lib/log.ts'
import { isToken } from '../message/header-names.ts'
import { structuralHeaders } from '../message/reserved-headers.ts'
import { isHeaderSafe } from '../message/serialize-message.ts'
import { allowHeader } from '../message/validate.ts'
import type { HeaderField } from '../message/message.ts'
import type { ContactName } from '../contact.ts'
import { cleanHeaderValue, withReason } from '../refusal.ts'
import type { Binding, Remote, Reply, Serves } from '../sip.ts'
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
  /** A number from 0 up to 1, each time another. */
  readonly random: () => number
  readonly abilities: Abilities
  readonly seal: Seal | undefined
  /** Server and User-Agent. */
  readonly product: string
  /** The Contact by which `remote` reaches us. */
  contactFor(remote: Remote, name: ContactName): string
  /** Where a request to this URI goes: RFC 3263. Rejects with `sip_unreachable`. */
  resolve(uri: string): Promise<Remote>
  /** As `Sip.rest`. */
  rest(remote: Remote): void
  /** The registered phones that are reached there. */
  phonesAt(remote: Remote): readonly Binding[]
  /** The connection that a phone has registered over since another one was lost; undefined where it has not come back. */
  flowAgain(phone: Binding): Promise<Remote | undefined>
  /** False for a connection that does not stand; true for UDP. */
  isOpen(remote: Remote): boolean
}

// RFC 3261 §20.5: what is served, and nothing else. A peer takes each of them for a promise: one that finds REFER here
// transfers its call with it. UPDATE is RFC 3311, INFO RFC 6086. NOTIFY follows our REFER, PRACK is RFC 3262.
const methodsInDialog = ['INVITE', 'BYE', 'OPTIONS', 'UPDATE', 'INFO', 'NOTIFY', 'PRACK']

export interface Abilities {
  /** The methods that a dialog takes. */
  readonly allow: readonly string[]
  /** Those that it takes as well where its owner does, which Allow does not promise. */
  readonly alsoTaken: readonly string[]
  /** The option tags (RFC 3261 §19.2) that a peer may require of us, and may use. */
  readonly supported: readonly string[]
  /** Those that it may require, and that Supported does not name. */
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

/** What our final and early-dialog answers to INVITE say of us: RFC 3261 §13.2.1 and §13.3.1.4. */
export function capabilityHeaders(core: Core, remote: Remote, contact: ContactName): HeaderField[] {
  return [
    { name: 'contact', value: core.contactFor(remote, contact) },
    allowHeader(core.abilities.allow),
    supportedHeader(core.abilities),
    { name: 'server', value: core.product },
  ]
}

/** A reply from above the stack, made safe to send: a value with a line break loses it, it does not fail the call. */
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

/** A reply with fields that it does not have itself. */
export function withHeaders(reply: Reply, added: readonly HeaderField[]): Reply {
  return { ...reply, headers: mergeHeaders(added, reply.headers ?? []) }
}

/** What the owner of a message says wins over what the stack would say under the same name. */
export function mergeHeaders(ours: readonly HeaderField[], own: readonly HeaderField[]): HeaderField[] {
  return [...ours.filter(({ name }) => !own.some((field) => field.name === name)), ...own]
}

/** Seconds for Retry-After of a 500 to an overlapping request: RFC 3261 §14.2 and RFC 3311 §5.2. */
export function randomRetryAfter(random: Core['random']): HeaderField {
  return { name: 'retry-after', value: String(Math.floor(random() * 11)) }
}

/** What a response calls Server, a request calls User-Agent. */
export function asClient(field: HeaderField): HeaderField {
  return field.name === 'server' ? { ...field, name: 'user-agent' } : field
}

/** To OPTIONS within a dialog: RFC 3261 §11.2. */
export const optionsReply: Reply = { status: 200, headers: [{ name: 'accept', value: 'application/sdp' }] }

/** For what the stack refuses by itself, without a question to the owner of the dialog. */
export function refuse(transaction: Pick<ServerTransaction, 'respond'>, status: number): void {
  transaction.respond(withReason({ status }))
}
