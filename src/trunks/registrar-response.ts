// The response of a registrar: granted and required times, and the route of calls (RFC 3261 §10.2, RFC 3608).
import { splitList } from '../sip/message/list.ts'
import { headerOf, headersOf, type SipResponse } from '../sip/message/message.ts'
import { parseNameAddr } from '../sip/message/name-addr.ts'
import { tryParseUri, type SipUri } from '../sip/message/uri.ts'
import { defaultTransport, transportOf, transports } from '../sip/transport/transports.ts'

// RFC 3261 §20.19 allows a number of seconds up to 2**32 - 1. The platform uses at most a day.
const maxSeconds = 86_400

/**
 * Returns for how long this Contact is bound: by its own parameter, or that of the only Contact of its user, else by
 * Expires, else `asked` (RFC 3261 §10.2.4).
 */
export function grantedSeconds(response: SipResponse, contact: string, asked: number): number {
  const listed = headersOf(response, 'contact')
    .flatMap(splitList)
    .flatMap((value) => toContact(value) ?? [])
  const [only, ...others] = listed
  // A proxy that helps with NAT may have rewritten the address, which the registrar then lists.
  const isRewritten = others.length === 0 && only?.user === userOf(uriOf(contact))
  const own =
    listed.find(({ place }) => place === placeOf(uriOf(contact))) ?? (isRewritten ? only : undefined)
  const seconds = own?.expires ?? secondsOf(headerOf(response, 'expires')) ?? asked
  return Math.min(seconds, maxSeconds)
}

/** Returns the minimum that a 423 requires, or undefined if it is missing or longer than a day. */
export function minExpires(response: SipResponse): number | undefined {
  const seconds = secondsOf(headerOf(response, 'min-expires'))
  return seconds === undefined || seconds > maxSeconds ? undefined : seconds
}

export function retryAfterSeconds(response: SipResponse): number | undefined {
  // A comment and parameters may follow: RFC 3261 §20.33.
  return secondsOf(/^\s*(\d+)/.exec(headerOf(response, 'retry-after') ?? '')?.[1])
}

const maxRoutes = 8
const maxRouteChars = 512

/** Returns the values of Service-Route that can be routes. */
export function serviceRoutes(response: SipResponse): readonly string[] {
  return headersOf(response, 'service-route')
    .flatMap(splitList)
    .filter((value) => value.length <= maxRouteChars && isSip(value))
    .slice(0, maxRoutes)
}

function isSip(value: string): boolean {
  const scheme = tryParseUri(uriOf(value))?.scheme
  return scheme === 'sip' || scheme === 'sips'
}

interface Listed {
  readonly place: string
  readonly user: string | undefined
  readonly expires: number | undefined
}

function toContact(value: string): Listed | undefined {
  try {
    const { uri, params } = parseNameAddr(value)
    return { place: placeOf(uri), user: userOf(uri), expires: secondsOf(params.get('expires')) }
  } catch {
    return undefined
  }
}

function uriOf(value: string): string {
  try {
    return parseNameAddr(value).uri
  } catch {
    return value
  }
}

function userOf(text: string): string | undefined {
  const uri = tryParseUri(text)
  return uri === undefined || uri.scheme === 'tel' ? undefined : uri.user
}

/** Normalises a Contact: registrars add parameters, and may add the default port. */
function placeOf(text: string): string {
  const uri = tryParseUri(text)
  if (uri === undefined || uri.scheme === 'tel') return text
  return `${uri.user ?? ''}@${uri.host}:${uri.port ?? usualPort(uri)}`
}

/** Returns the port of TLS if the URI requires it: RFC 3261 §18.2.1 and §19.1.2. */
function usualPort({ scheme, params }: SipUri): number {
  return transports[transportOf(scheme, params.get('transport')) ?? defaultTransport].defaultPort
}

function secondsOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,10}$/.test(text.trim()) ? Number(text) : undefined
}
