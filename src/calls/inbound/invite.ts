// What an INVITE says, in the words of a call: who calls whom, the offer, and the `sip` object of the call hook.
import { bodyParts } from '../../sip/message/body.ts'
import { isKnownName } from '../../sip/message/header-names.ts'
import { splitList } from '../../sip/message/list.ts'
import { headerOf, headersOf } from '../../sip/message/message.ts'
import type { SipRequest } from '../../sip/message/message.ts'
import { parseNameAddr } from '../../sip/message/name-addr.ts'
import type { NameAddr } from '../../sip/message/name-addr.ts'
import { telephoneNumber, tryParseUri, unescapeUri } from '../../sip/message/uri.ts'
import { toText } from '../journal/sip-text.ts'

export interface Parties {
  /** The user part of From, a leading + kept (calls.md §1.3). */
  readonly from: string
  /** The user part of the Request-URI. */
  readonly to: string
  readonly caller_name: string
  /** P-Asserted-Identity, where it is believed, before From. */
  readonly calling_number: string
}

export interface Trust {
  /** The sender is within our trust domain (RFC 3325 §4): a carrier, which vouches for what it asserts. */
  readonly believesAsserted: boolean
}

const nobody = 'anonymous'

export function partiesOf(request: SipRequest, { believesAsserted }: Trust): Parties {
  const caller = addressOf(headerOf(request, 'from'))
  const asserted = believesAsserted
    ? headersOf(request, 'p-asserted-identity').flatMap(splitList)[0]
    : undefined
  const from = userOf(caller?.uri)
  return {
    from,
    to: calledUserOf(request),
    caller_name: caller?.displayName ?? '',
    calling_number: asserted === undefined ? from : userOf(addressOf(asserted)?.uri, from),
  }
}

/** The user part of the Request-URI, or the number of a tel URI. */
export function calledUserOf(request: SipRequest): string {
  return userOf(request.uri)
}

/** The host of the Request-URI, lower case: the realm that a carrier calls. Undefined for a tel URI. */
export function calledHostOf(request: SipRequest): string | undefined {
  const uri = tryParseUri(request.uri)
  return uri === undefined || uri.scheme === 'tel' ? undefined : uri.host
}

/** The host of From, lower case. */
export function callerHostOf(request: SipRequest): string | undefined {
  const uri = tryParseUri(addressOf(headerOf(request, 'from'))?.uri ?? '')
  return uri === undefined || uri.scheme === 'tel' ? undefined : uri.host
}

function addressOf(value: string | undefined): NameAddr | undefined {
  if (value === undefined) return undefined
  try {
    return parseNameAddr(value)
  } catch {
    return undefined
  }
}

function userOf(text: string | undefined, fallback = nobody): string {
  const uri = text === undefined ? undefined : tryParseUri(text)
  if (uri === undefined) return fallback
  const user =
    uri.scheme === 'tel'
      ? telephoneNumber(uri.number, uri.params.get('phone-context'))
      : unescapeUri(uri.user ?? '')
  return user === '' ? fallback : user
}

const vouchedNames = [
  'X-Account-Sid',
  'X-Application-Sid',
  'X-CID',
  'X-Forwarded-For',
  'X-Authenticated-User',
  'X-Originating-Carrier',
  'X-Voip-Carrier-Sid',
] as const

/** Headers that the platform alone writes (calls.md §1.5): an application may believe them. */
export type VouchedHeaders = { readonly [N in (typeof vouchedNames)[number]]?: string }

const vouched: ReadonlySet<string> = new Set(vouchedNames.map((name) => name.toLowerCase()))

export interface SipPayloadOptions {
  /** What the caller wrote under the names of these headers is left out, also where there is nothing to say. */
  readonly added: VouchedHeaders
}

/** The `sip` object of the call hook (spec "sipRequest"; architecture.md ruling 12 for `payload`). */
export function toSipPayload(request: SipRequest, raw: Uint8Array, { added }: SipPayloadOptions): object {
  const text = toText(request, raw)
  const parts = bodyParts(request)
  return {
    raw: text,
    headers: { ...headersAsReceived(request, text), ...added },
    body: Buffer.from(request.body).toString('utf8'),
    method: request.method,
    version: (request.version ?? 'SIP/2.0').replace(/^SIP\//i, ''),
    uri: request.uri,
    payload: Object.fromEntries(parts.map((part, index) => [String(index), part])),
  }
}

// Answers to our own challenge: of no use to an application, of some to a thief.
const withheld: ReadonlySet<string> = new Set(['authorization', 'proxy-authorization'])

/** Known names in lower case, extension names as the caller spelled them; repeated fields joined with a comma. */
function headersAsReceived(request: SipRequest, raw: string): Record<string, string> {
  const spelling = spellings(raw)
  const headers: Record<string, string> = {}
  for (const { name, value } of request.headers) {
    if (withheld.has(name) || vouched.has(name)) continue
    const key = isKnownName(name) ? name : (spelling.get(name) ?? name)
    headers[key] = headers[key] === undefined ? value : `${headers[key]}, ${value}`
  }
  return headers
}

function spellings(raw: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  const head = raw.split(/\r?\n\r?\n/, 1)[0] ?? ''
  for (const [, name] of head.matchAll(/^([^\s:]+)[ \t]*:/gm))
    if (name !== undefined) found.set(name.toLowerCase(), name)
  return found
}
