// The requests in the Contact fields of a REGISTER: RFC 3261 §10.3 steps 6 and 7.
import { AppError } from '../../lib/errors.ts'
import { registrationLimits } from '../limits.ts'
import { headerOf, headersOf, type SipRequest } from '../message/message.ts'
import { parseNameAddr, splitAddresses } from '../message/name-addr.ts'
import { parseUri } from '../message/uri.ts'
import { instanceOf, keyOf } from './binding.ts'
import { grantExpires, parseDeltaSeconds } from './expires.ts'

export type ContactWish =
  | { readonly kind: 'query' }
  | { readonly kind: 'remove-all' }
  | { readonly kind: 'phones'; readonly phones: readonly PhoneWish[] }

export interface PhoneWish {
  readonly uri: string
  /** 0 removes the binding. */
  readonly seconds: number
  /** The minimum, set if the phone requested less. */
  readonly tooBriefFor: number | undefined
  readonly key: string
  readonly instance: string | undefined
  readonly q: string | undefined
}

// RFC 3261 §25.1.
const qvalue = /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/

const { maxContactChars, maxPerUser } = registrationLimits

/** Throws AppError bad_request. */
export function readContacts(request: SipRequest): ContactWish {
  const contacts = headersOf(request, 'contact').flatMap(splitAddresses)
  const expires = headerOf(request, 'expires')
  if (contacts.length === 0) return { kind: 'query' }
  if (contacts.includes('*')) {
    if (contacts.length > 1 || parseDeltaSeconds(expires) !== 0) {
      throw new AppError('bad_request', 'Contact "*" must stand alone and with Expires: 0')
    }
    return { kind: 'remove-all' }
  }
  if (contacts.length > maxPerUser)
    throw new AppError('bad_request', `A REGISTER may have at most ${maxPerUser} contacts`)
  return { kind: 'phones', phones: contacts.map((contact) => readPhone(contact, expires)) }
}

function readPhone(contact: string, expires: string | undefined): PhoneWish {
  const { uri, params } = parseNameAddr(contact)
  const instance = instanceOf(params)
  const isUsable = isSaneValue(uri, maxContactChars) && isSaneValue(instance ?? '', maxContactChars)
  if (!isUsable || parseUri(uri).scheme === 'tel')
    throw new AppError('bad_request', 'Contact is not a SIP URI of a reasonable length')
  const q = params.get('q')
  const granted = grantExpires(params.get('expires'), expires)
  return {
    uri,
    ...(granted.kind === 'granted'
      ? { seconds: granted.seconds, tooBriefFor: undefined }
      : { seconds: granted.minSeconds, tooBriefFor: granted.minSeconds }),
    key: keyOf(uri, instance),
    instance,
    q: q !== undefined && qvalue.test(q) ? q : undefined,
  }
}

/**
 * Returns the lifetime that a request names, of a REGISTER for its first contact, as it was sent; undefined if it names
 * none, or a malformed one. The contacts of a REGISTER have been read by then.
 */
export function secondsWanted(request: SipRequest): number | undefined {
  const header = parseDeltaSeconds(headerOf(request, 'expires'))
  const [first] = headersOf(request, 'contact').flatMap(splitAddresses)
  if (request.method !== 'REGISTER' || first === undefined || first === '*') return header
  const own = parseNameAddr(first).params.get('expires')
  return own === undefined ? header : parseDeltaSeconds(own)
}

export function isSaneValue(text: string, maxChars: number): boolean {
  return text.length <= maxChars && !/\p{Cc}/u.test(text)
}
