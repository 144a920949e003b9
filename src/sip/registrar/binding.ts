// What a registration says of a phone: which one it is, and whether it can be reached once its connection is gone.
import { isIP } from 'node:net'
import { unquote } from '../message/list.ts'
import type { Params } from '../message/params.ts'
import { parseNameAddr } from '../message/name-addr.ts'
import { tryParseUri, unescapeUri } from '../message/uri.ts'
import type { SipUri } from '../message/uri.ts'
import { isHiddenFrom } from '../hidden-address.ts'
import type { Binding } from '../sip.ts'
import { transports } from '../transport/transports.ts'

/** The phone and the flow of RFC 5626 §4.1 and §4.2, as their Contact names them; undefined without an instance. */
export function instanceOf(params: Params): string | undefined {
  const instance = params.get('+sip.instance')
  if (instance === undefined || instance === '') return undefined
  const flow = params.get('reg-id') ?? ''
  return `${unquote(instance)};${/^\d{1,10}$/.test(flow) ? flow : ''}`
}

/** The phone of an instance, whichever of its flows it is. */
export function phoneOf({ instance, key }: Pick<Binding, 'instance' | 'key'>): string {
  return instance === undefined ? key : instance.slice(0, instance.lastIndexOf(';'))
}

/**
 * What tells the bindings of an address of record apart: the instance, or the place that the Contact names. Deviation
 * from RFC 3261 §19.1.4: other parameters of the URI do not count, for some phones make them up at each start.
 */
export function keyOf(contact: string, instance: string | undefined): string {
  if (instance !== undefined) return instance
  const uri = sipUriOf(contact)
  if (uri === undefined) return contact
  const { scheme, user = '', host, port = '', params } = uri
  const transport = params.get('transport')?.toLowerCase() ?? ''
  return `${scheme}:${unescapeUri(user)}@${host}:${port};${transport}`
}

/** Whether a new binding takes the place of one that is there. */
export function isSamePhone(there: Binding, next: Binding): boolean {
  if (there.key === next.key) return true
  // A phone that began to name its instance.
  const isSamePlace = keyOf(there.contact, undefined) === keyOf(next.contact, undefined)
  if (isSamePlace && (there.instance === undefined || next.instance === undefined)) return true
  // RFC 3261 §10.2: one Call-ID, one phone. NAT has moved it, and its Contact says where to.
  return there.callId === next.callId && namesItsSource(there) && namesItsSource(next)
}

function namesItsSource({ contact, remote, instance }: Binding): boolean {
  const uri = sipUriOf(contact)
  if (instance !== undefined || uri === undefined) return false
  const { defaultPort } = transports[remote.transport]
  return uri.host === remote.address && (uri.port ?? defaultPort) === remote.port
}

/** Where the edge that the phone has registered through has heard it, as the last Path of that says; undefined where none says so. */
export function heardByEdge({ path }: Pick<Binding, 'path'>): string | undefined {
  const edge = path.at(-1)
  const received = edge && sipUriOf(parseNameAddr(edge).uri)?.params.get('received')
  const host = received === undefined ? undefined : sipUriOf(unescapeUri(received))?.host
  return host !== undefined && isIP(host) !== 0 ? host : undefined
}

/** Where a request goes when the phone's connection is gone: the URI, or undefined when it cannot lead to the phone. */
export function contactOf({ contact, path, remote }: Binding): string | undefined {
  const [edge] = path
  if (edge !== undefined) return parseNameAddr(edge).uri
  // A browser opens its connections itself, and no phone has a certificate that proves its address.
  const { isOpenedHere, isSecure } = transports[remote.transport]
  if (!isOpenedHere || isSecure) return undefined
  const uri = sipUriOf(contact)
  if (uri === undefined || uri.host.endsWith('.invalid')) return undefined
  return isHiddenFrom(uri.host, remote.address) ? undefined : contact
}

function sipUriOf(text: string): SipUri | undefined {
  const uri = tryParseUri(text)
  return uri === undefined || uri.scheme === 'tel' ? undefined : uri
}
