// The state of a dialog and the addressing of its requests: RFC 3261 §12. No I/O, no time.
import { cseqOf } from '../message/cseq.ts'
import { splitList } from '../message/list.ts'
import {
  headerOf,
  headersOf,
  type HeaderField,
  type SipMessage,
  type SipRequest,
  type SipResponse,
} from '../message/message.ts'
import { parseNameAddr, splitAddresses, tagOf } from '../message/name-addr.ts'
import { parseUri, serializeUri } from '../message/uri.ts'

export interface DialogState {
  readonly callId: string
  readonly localTag: string
  /** Empty for a peer of RFC 2543, which sends no tag. */
  readonly remoteTag: string
  /** The From value of our requests and the To value, including tags. */
  readonly local: string
  readonly remote: string
  /** The Route values, in the order in which our requests carry them. */
  readonly routeSet: readonly string[]
  remoteTarget: string
  /** The methods in the peer's last Allow: RFC 3261 §20.5; empty for a peer that has sent none. */
  allowed: readonly string[]
  localSequence: number
  remoteSequence: number | undefined
}

/** Creates the UAS side, when a response that establishes the dialog is sent: RFC 3261 §12.1.1. */
export function uasDialogState(invite: SipRequest, localTag: string): DialogState {
  return {
    callId: headerOf(invite, 'call-id') ?? '',
    localTag,
    remoteTag: tagOf(headerOf(invite, 'from')) ?? '',
    local: `${headerOf(invite, 'to') ?? ''};tag=${localTag}`,
    remote: headerOf(invite, 'from') ?? '',
    routeSet: recordedRoutes(invite),
    allowed: allowedBy(invite) ?? [],
    remoteTarget: contactUriOf(invite) ?? parseNameAddr(headerOf(invite, 'from') ?? '').uri,
    localSequence: 0,
    remoteSequence: cseqOf(invite).sequence,
  }
}

/** Creates the UAC side from a response to our INVITE; the Record-Route order is reversed: RFC 3261 §12.1.2. */
export function uacDialogState(invite: SipRequest, response: SipResponse): DialogState {
  return {
    callId: headerOf(invite, 'call-id') ?? '',
    localTag: tagOf(headerOf(invite, 'from')) ?? '',
    remoteTag: tagOf(headerOf(response, 'to')) ?? '',
    local: headerOf(invite, 'from') ?? '',
    remote: headerOf(response, 'to') ?? '',
    routeSet: recordedRoutes(response).reverse(),
    allowed: allowedBy(response) ?? [],
    remoteTarget: contactUriOf(response) ?? invite.uri,
    localSequence: cseqOf(invite).sequence,
    remoteSequence: undefined,
  }
}

/** Returns the URI of the first Contact, or undefined if none can be used. */
export function contactUriOf(message: SipMessage): string | undefined {
  const value = splitAddresses(headerOf(message, 'contact') ?? '')[0]
  if (value === undefined || value === '*') return undefined
  try {
    const { uri } = parseNameAddr(value)
    return parseUri(uri).scheme === 'tel' ? undefined : uri
  } catch {
    return undefined
  }
}

/** Returns the URI of the proxy that recorded itself last: the next one towards the sender. */
export function recordedBy(message: SipMessage): string | undefined {
  const [first] = recordedRoutes(message)
  return first === undefined ? undefined : parseNameAddr(first).uri
}

/**
 * Returns the Record-Route values. A value that is not an address is left out, since every later request would fail
 * with it. One without <> is not legal (RFC 3261 §25.1, rec-route): its parameters are read as those of the URI, and not
 * as those of the field (§20, which is about Contact, From and To), since a Record-Route has lr in its URI, and without it
 * the proxy would be taken for a strict router.
 */
function recordedRoutes(message: SipMessage): string[] {
  const values = headersOf(message, 'record-route')
    .flatMap(splitList)
    .map((value) => (value.includes('<') ? value : `<${value}>`))
  return values.filter((value) => {
    try {
      return parseUri(parseNameAddr(value).uri).scheme !== 'tel'
    } catch {
      return false
    }
  })
}

/** Notes the CSeq of a request from the peer. Returns false if it is older than one seen before: RFC 3261 §12.2.2. */
export function noteSequence(state: DialogState, request: SipRequest): boolean {
  const { sequence } = cseqOf(request)
  if (state.remoteSequence !== undefined && sequence < state.remoteSequence) return false
  state.remoteSequence = sequence
  return true
}

/** Updates the state after a target refresh request or its 2xx: RFC 3261 §12.2.1.2 and §12.2.2. */
export function refreshTarget(state: DialogState, message: SipMessage): void {
  state.remoteTarget = contactUriOf(message) ?? state.remoteTarget
  state.allowed = allowedBy(message) ?? state.allowed
}

function allowedBy(message: SipMessage): readonly string[] | undefined {
  const values = headersOf(message, 'allow')
  return values.length === 0 ? undefined : values.flatMap(splitList)
}

export interface Addressed {
  /** The Request-URI. */
  readonly uri: string
  readonly routes: readonly string[]
  /** The URI whose host the request is sent to. */
  readonly nextHop: string
}

/** Returns the Request-URI and Route fields for a target behind a route set: RFC 3261 §12.2.1.1. */
export function addressed(target: string, routeSet: readonly string[]): Addressed {
  const first = routeSet[0]
  if (first === undefined) return { uri: target, routes: [], nextHop: target }
  const hop = parseNameAddr(first).uri
  const parsed = parseUri(hop)
  if (parsed.params.has('lr')) return { uri: target, routes: routeSet, nextHop: hop }
  // A strict router of RFC 2543 expects itself in the Request-URI and the target at the end of the Route.
  const uri = parsed.scheme === 'tel' ? hop : serializeUri({ ...parsed, headers: new Map() })
  return { uri, routes: [...routeSet.slice(1), `<${target}>`], nextHop: hop }
}

/** Returns the fields that identify a request as part of the dialog. An ACK takes the CSeq of its INVITE. */
export function dialogHeaders(state: DialogState, method: string, sequence: number): HeaderField[] {
  const { routes } = addressed(state.remoteTarget, state.routeSet)
  return [
    ...routes.map((value) => ({ name: 'route', value })),
    { name: 'max-forwards', value: '70' },
    { name: 'from', value: state.local },
    { name: 'to', value: state.remote },
    { name: 'call-id', value: state.callId },
    { name: 'cseq', value: `${sequence} ${method}` },
  ]
}
