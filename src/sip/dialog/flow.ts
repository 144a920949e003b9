// Whether a dialog's requests go where the peer's packets come from, or where its Contact says.
import { isIP } from 'node:net'
import { splitList } from '../message/list.ts'
import { headersOf } from '../message/message.ts'
import type { SipRequest } from '../message/message.ts'
import { tryParseUri } from '../message/uri.ts'
import type { Remote } from '../sip.ts'

/** The source of a request, when its sender is the peer itself and not a proxy. */
export function flowOf(request: SipRequest, remote: Remote): Remote | undefined {
  const vias = headersOf(request, 'via').flatMap(splitList)
  return vias.length === 1 ? remote : undefined
}

/**
 * Deviation from RFC 3261 §12.2.1.1: a peer whose Contact names another address than its packets come from is behind
 * NAT and reached through the flow it opened; so is one that came over TCP, whose port is not one it listens on.
 */
export function isFlowPreferred(flow: Remote, target: string): boolean {
  if (flow.transport !== 'udp') return true
  const uri = tryParseUri(target)
  if (uri === undefined || uri.scheme === 'tel') return true
  return isIP(uri.host) !== 0 && uri.host !== flow.address
}
