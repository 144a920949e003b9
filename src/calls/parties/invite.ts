// The facts of a call in its INVITE: caller, called party, offer, and the `sip` object of the call hook.
import { splitList } from '../../sip/message/list.ts'
import { headerOf, headersOf } from '../../sip/message/message.ts'
import type { SipRequest } from '../../sip/message/message.ts'
import { parseNameAddr } from '../../sip/message/name-addr.ts'
import type { NameAddr } from '../../sip/message/name-addr.ts'
import { telephoneNumber, telephoneUser, tryParseUri, unescapeUri } from '../../sip/message/uri.ts'

export interface Parties {
  /** The user of From, a leading + kept. */
  readonly from: string
  /** The result of `calledPartyOf`. */
  readonly to: string
  readonly caller_name: string
  /** The number of P-Asserted-Identity if the sender is trusted, else that of From. */
  readonly calling_number: string
}

export interface Trust {
  /** The sender is within our trust domain (RFC 3325 §4): a carrier, which vouches for what it asserts. */
  readonly believesAsserted: boolean
  /** The user that the platform is registered as with the sender. */
  readonly registeredAs?: string | undefined
}

const anonymous = 'anonymous'

export function partiesOf(request: SipRequest, { believesAsserted, registeredAs }: Trust): Parties {
  const caller = addressOf(headerOf(request, 'from'))
  const asserted = believesAsserted
    ? headersOf(request, 'p-asserted-identity').flatMap(splitList)[0]
    : undefined
  const from = userOf(caller?.uri)
  return {
    from,
    to: calledPartyOf(request, (user) => user === registeredAs),
    caller_name: caller?.displayName ?? '',
    calling_number: asserted === undefined ? from : userOf(addressOf(asserted)?.uri, from),
  }
}

/** The user part of the Request-URI, or the number of a tel URI. */
export function calledUserOf(request: SipRequest): string {
  return userOf(request.uri)
}

/**
 * Returns the user part of the Request-URI. A registrar sends calls to the platform's Contact, whose user is the same
 * for each number; the called number is then in P-Called-Party-ID (RFC 7315 §4.2) or, without one, in To.
 */
export function calledPartyOf(request: SipRequest, isOurContact: (user: string) => boolean): string {
  const user = calledUserOf(request)
  if (!isOurContact(user)) return user
  const named = [headerOf(request, 'p-called-party-id'), headerOf(request, 'to')]
  for (const value of named) {
    const called = userOf(addressOf(value)?.uri, '')
    if (called !== '') return called
  }
  return user
}

/** Returns the host of the Request-URI in lower case, the realm that a carrier calls. Undefined for a tel URI. */
export function calledHostOf(request: SipRequest): string | undefined {
  const uri = tryParseUri(request.uri)
  return uri === undefined || uri.scheme === 'tel' ? undefined : uri.host
}

/** Returns the host of From in lower case. */
export function callerHostOf(request: SipRequest): string | undefined {
  const uri = tryParseUri(addressOf(headerOf(request, 'from'))?.uri ?? '')
  return uri === undefined || uri.scheme === 'tel' ? undefined : uri.host
}

/** Returns the user part of the address in a header field, or an empty text if there is none. */
export function numberIn(value: string | undefined): string {
  return userOf(addressOf(value)?.uri, '')
}

function addressOf(value: string | undefined): NameAddr | undefined {
  if (value === undefined) return undefined
  try {
    return parseNameAddr(value)
  } catch {
    return undefined
  }
}

/**
 * Returns the user of a URI. That of a telephone number is without the parameters of RFC 3966 §3 and RFC 4904, which
 * are no part of it; the journal has the request as it came.
 */
function userOf(text: string | undefined, fallback = anonymous): string {
  const uri = text === undefined ? undefined : tryParseUri(text)
  if (uri === undefined) return fallback
  const user =
    uri.scheme === 'tel'
      ? telephoneNumber(uri.number, uri.params.get('phone-context'))
      : withoutParameters(unescapeUri(uri.user ?? ''))
  return user === '' ? fallback : user
}

function withoutParameters(user: string): string {
  return (user.includes(';') ? telephoneUser(user) : undefined) ?? user
}
