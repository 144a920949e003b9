// The refusals of requests that could be parsed but are wrong (RFC 3261 §8.2, §16.3), and the checks that drop
// responses. A refusal is a return value, since it is a normal outcome here.
import { AppError } from '../../lib/errors.ts'
import type { Reply } from './reply.ts'
import {
  demandsOtherType,
  isBrokenMultipart,
  isOptionalBody,
  mediaTypeOf,
  recordingMetadata,
} from './body.ts'
import { cseqOf } from './cseq.ts'
import { splitList } from './list.ts'
import { malformed } from './malformed.ts'
import {
  headerOf,
  headersOf,
  type HeaderField,
  type SipMessage,
  type SipRequest,
  type SipResponse,
} from './message.ts'
import { parseNameAddr, splitAddresses } from './name-addr.ts'
import { parseUri, schemeOf } from './uri.ts'
import { hasSeveralVias, topVia } from './via.ts'

/** The capabilities of the user agent core behind the stack; they become Allow, Supported, Accept and the refusals. */
export interface Capabilities {
  /** The methods that reach the core. ACK and CANCEL are always accepted. */
  readonly allow: readonly string[]
  /** Further methods that reach the core, and that Allow does not list. */
  readonly alsoTaken?: readonly string[]
  /** The option tags (RFC 3261 §19.2) that a Require may name. */
  readonly supported: readonly string[]
  /** The body types that an INVITE may carry, in lower case. */
  readonly accept: readonly string[]
}

// The methods of the IANA registry: one of them that is not allowed gets 405, any other 501 (RFC 3261 §8.2.1, §21.5.2).
const registeredMethods = new Set(
  'ACK BYE CANCEL INFO INVITE MESSAGE NOTIFY OPTIONS PRACK PUBLISH REFER REGISTER SUBSCRIBE UPDATE'.split(
    ' ',
  ),
)

const singleHeaders = ['from', 'to', 'call-id', 'cseq', 'max-forwards', 'content-length', 'content-type']

/** Returns the refusal of a request, or undefined if it may be served. */
export function validateRequest(request: SipRequest, capabilities: Capabilities): Reply | undefined {
  try {
    return (
      refuseVersion(request) ??
      refuseSize(request) ??
      refuseMalformed(request) ??
      refuseFraming(request) ??
      refuseMethod(request, capabilities) ??
      refuseHeaders(request) ??
      refuseRequestUri(request) ??
      refuseExtensions(request, capabilities) ??
      refuseBody(request, capabilities)
    )
  } catch (error) {
    if (error instanceof AppError) return { status: 400, reason: error.message }
    throw error
  }
}

/** Returns the reason to drop a response silently, or undefined if it may be matched with its request. */
export function validateResponse(response: SipResponse): string | undefined {
  try {
    if (response.status < 100 || response.status > 699) return 'status out of range'
    if (response.version?.toUpperCase() !== 'SIP/2.0') return 'version'
    if (response.tooLarge !== undefined) return 'too large'
    // RFC 3261 §8.1.3.3: a response with more than one Via is not for us.
    if (hasSeveralVias(response)) return 'several Via values'
    topVia(response)
    cseqOf(response)
    return refuseFraming(response)?.reason
  } catch (error) {
    if (error instanceof AppError) return error.message
    throw error
  }
}

function refuseVersion({ version = 'SIP/2.0' }: SipRequest): Reply | undefined {
  if (version.trim().toUpperCase() !== 'SIP/2.0') return { status: 505 }
  if (version.trim() !== version) throw malformed('White space at the end of the request line')
  return undefined
}

function refuseSize({ tooLarge }: SipRequest): Reply | undefined {
  return tooLarge === undefined ? undefined : { status: tooLarge }
}

function refuseMalformed({ malformed: reason }: SipRequest): Reply | undefined {
  return reason === undefined ? undefined : { status: 400, reason }
}

/** Checks Content-Length: RFC 3261 §18.3, §20.14. */
function refuseFraming(message: SipMessage): Reply | undefined {
  const lengths = headersOf(message, 'content-length')
  if (lengths.length === 0) return undefined
  const [length = ''] = lengths
  if (lengths.length > 1) return { status: 400, reason: 'Repeated Content-Length' }
  if (!/^\d{1,9}$/.test(length)) return { status: 400, reason: 'Bad Content-Length' }
  if (Number(length) > message.body.byteLength) {
    return { status: 400, reason: 'Content-Length larger than the message' }
  }
  return undefined
}

function refuseMethod({ method }: SipRequest, { allow, alsoTaken = [] }: Capabilities): Reply | undefined {
  if (method === 'ACK' || method === 'CANCEL' || allow.includes(method)) return undefined
  if (alsoTaken.includes(method)) return undefined
  const headers = [allowHeader(allow)]
  return { status: registeredMethods.has(method) ? 405 : 501, headers }
}

export function allowHeader(allow: readonly string[]): HeaderField {
  return { name: 'allow', value: ['ACK', 'CANCEL', ...allow].join(', ') }
}

function refuseHeaders(request: SipRequest): undefined {
  topVia(request)
  for (const name of singleHeaders) {
    if (headersOf(request, name).length > 1) throw malformed(`Repeated ${name}`)
  }
  for (const name of ['from', 'to'] as const) {
    const value = headerOf(request, name)
    if (value === undefined) throw malformed(`Missing ${name}`)
    checkAddress(value, name)
  }
  if (headerOf(request, 'call-id') === undefined) throw malformed('Missing call-id')
  if (cseqOf(request).method !== request.method) throw malformed('CSeq method differs from the request')
  const hops = headerOf(request, 'max-forwards')
  // RFC 3261 §20.22. Its absence is tolerated for clients of RFC 2543; zero matters only to a proxy.
  if (hops !== undefined && !/^0*(?:1?\d?\d|2[0-4]\d|25[0-5])$/.test(hops))
    throw malformed('Bad max-forwards')
  for (const value of headersOf(request, 'contact')) {
    // Only a REGISTER removes all bindings: RFC 3261 §20.10.
    if (value === '*' && request.method !== 'INVITE') continue
    for (const contact of splitAddresses(value)) {
      checkAddress(contact, 'contact')
      // RFC 3261 §8.1.1.8: later requests go there.
      if (request.method === 'INVITE' && !isSip(parseNameAddr(contact).uri))
        throw malformed('Contact of an INVITE is not a SIP URI')
    }
  }
  // RFC 3261 §10.2: the address of record is a SIP or SIPS URI.
  if (request.method === 'REGISTER' && !isSip(parseNameAddr(headerOf(request, 'to') ?? '').uri)) {
    throw malformed('To of a REGISTER is not a SIP URI')
  }
  return undefined
}

/** Checks an address. Other schemes are legal here; only the known ones are parsed. */
function checkAddress(value: string, where: string): void {
  let uri: string
  try {
    uri = parseNameAddr(value).uri
    if (isSip(uri)) parseUri(uri)
  } catch (error) {
    throw error instanceof AppError ? malformed(`${error.message} (${where})`) : error
  }
}

function isSip(uri: string): boolean {
  const scheme = schemeOf(uri)
  return scheme === 'sip' || scheme === 'sips'
}

function refuseRequestUri({ uri }: SipRequest): Reply | undefined {
  if (/[\s<>]/.test(uri)) throw malformed('Bad Request-URI')
  const scheme = schemeOf(uri)
  if (scheme === undefined) throw malformed('Request-URI without a scheme')
  if (!isSip(uri) && scheme !== 'tel') return { status: 416 }
  const parsed = parseUri(uri)
  // RFC 3261 §19.1.1 table 1: headers are not allowed in a Request-URI.
  if (parsed.scheme !== 'tel' && parsed.headers.size > 0) throw malformed('Headers in the Request-URI')
  return undefined
}

/** Does not apply to ACK and CANCEL: RFC 3261 §8.2.2.3. */
function refuseExtensions(request: SipRequest, { supported }: Capabilities): Reply | undefined {
  if (request.method === 'ACK' || request.method === 'CANCEL') return undefined
  const required = headersOf(request, 'require').flatMap(splitList)
  const unknown = required.filter((tag) => !supported.includes(tag.toLowerCase()))
  if (unknown.length === 0) return undefined
  return { status: 420, headers: [{ name: 'unsupported', value: unknown.join(', ') }] }
}

/**
 * Checks the body of an INVITE: RFC 3261 §8.2.3 and §13.3.1. Deviation from RFC 3261 §13.3.1: its Accept is ignored.
 * Devices list there the types that they accept apart from SDP, and every device accepts SDP.
 */
function refuseBody(request: SipRequest, { accept }: Capabilities): Reply | undefined {
  const encoding = headerOf(request, 'content-encoding')
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    return { status: 415, headers: [{ name: 'accept-encoding', value: 'identity' }] }
  }
  if (request.method !== 'INVITE' || request.body.byteLength === 0 || isOptionalBody(request))
    return undefined
  const type = mediaTypeOf(headerOf(request, 'content-type') ?? '')
  // RFC 2046 §5.1.3: an unknown multipart subtype is treated as multipart/mixed.
  const isMultipart = type.startsWith('multipart/') && accept.includes('multipart/mixed')
  if (isMultipart && isBrokenMultipart(request)) throw malformed('Multipart body without parts')
  const isUnderstood = isMultipart
    ? !demandsOtherType(request, [...accept, ...recordingMetadata])
    : accept.includes(type)
  if (isUnderstood) return undefined
  return { status: 415, headers: [{ name: 'accept', value: accept.join(', ') }] }
}
