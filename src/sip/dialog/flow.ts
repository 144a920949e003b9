// The possible destinations of a dialog's requests: its Route set, its Contact, or the flow, the source of its peer's
// packets.
import { isIP } from 'node:net'
import { toReportedAddress } from '../../network/reported-address.ts'
import { isHiddenFrom } from '../transport/hidden-address.ts'
import { splitList } from '../message/list.ts'
import { headersOf, type SipRequest } from '../message/message.ts'
import { tryParseUri } from '../message/uri.ts'
import { isReliable, toTransport, type Remote } from '../transport/transports.ts'

/** The facts about the peer's own packets. */
export interface Flow {
  /** Their source; before any have arrived, the destination of our INVITE. */
  readonly source: Remote
  /** There is no proxy in between. */
  readonly isDirect: boolean
  /** Our INVITE opened the flow: over TCP, the far end listens there. */
  readonly isOurs: boolean
}

export interface HopFacts extends Flow {
  /** A registered phone is reached by this flow. */
  readonly isRegistered: boolean
  /** Over TCP: the connection is open. */
  readonly isOpen: boolean
  /** The URI of the Contact. */
  readonly target: string
  /** The URI of the first Route; undefined without a Route set. */
  readonly route: string | undefined
}

/** `flow`, or the URI of the next hop. */
export type Hop = 'flow' | { readonly uri: string }

/** Returns the flow that a request came by. */
export function flowOf(request: SipRequest, source: Remote): Flow {
  const vias = headersOf(request, 'via').flatMap(splitList)
  return { source, isDirect: vias.length === 1, isOurs: false }
}

/**
 * Returns the places to send a request to, in the order to try them. Deviation from RFC 3261 §12.2.1.1: some peers are
 * reached by their flow and not by their Contact. These are registered phones, whose NAT lets nothing else through
 * (RFC 5626 §5.3); peers whose Contact is an address of a network that we are outside of; and peers at the far end of
 * a connection, whose Contact may be a port they do not listen on.
 */
export function hopsOf(facts: HopFacts): readonly Hop[] {
  const { source, isDirect, isRegistered, isOpen, isOurs, target, route } = facts
  if (route !== undefined) return [{ uri: route }, 'flow']
  const contact = { uri: target }
  const isFlowBetter = isReliable(source)
    ? isOpen && (isRegistered || (isDirect && !(isOurs && leadsElsewhere(target, source))))
    : isRegistered || (isDirect && isBehindNat(target, source))
  return isFlowBetter ? ['flow', contact] : [contact, 'flow']
}

/**
 * Reports whether the URI itself names a datagram transport, so that even a large request does not change to another.
 */
export function namesDatagrams(uri: string): boolean {
  const transport = toTransport(tryParseUri(uri)?.params.get('transport') ?? '')
  return transport !== undefined && !isReliable({ transport })
}

function isBehindNat(target: string, source: Remote): boolean {
  const host = hostOf(target)
  return host === undefined || isHiddenFrom(host, source.address)
}

/** Reports whether the Contact names another node, as some carriers do. */
function leadsElsewhere(target: string, source: Remote): boolean {
  const host = hostOf(target)
  const isElsewhere = host !== undefined && isIP(host) !== 0 && toReportedAddress(host) !== source.address
  return isElsewhere && !isHiddenFrom(host, source.address)
}

function hostOf(target: string): string | undefined {
  const uri = tryParseUri(target)
  return uri === undefined || uri.scheme === 'tel' ? undefined : uri.host
}
