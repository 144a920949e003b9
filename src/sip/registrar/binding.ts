// The facts about a phone in its registration: its identity, and whether it can be reached once its connection is gone.
import { isIP } from 'node:net'
import { toReportedAddress } from '../../network/reported-address.ts'
import { unquote } from '../message/list.ts'
import type { SipRequest } from '../message/message.ts'
import type { Params } from '../message/params.ts'
import { parseNameAddr } from '../message/name-addr.ts'
import { tryParseUri, unescapeUri, type SipUri } from '../message/uri.ts'
import { originVia } from '../message/via.ts'
import { isHiddenFrom } from '../transport/hidden-address.ts'
import type { Binding } from './binding-store.ts'
import { transportOf, transports, type Remote } from '../transport/transports.ts'

/**
 * Returns the phone and flow of RFC 5626 §4.1 and §4.2 that the Contact parameters name; undefined without an instance.
 */
export function instanceOf(params: Params): string | undefined {
  const instance = params.get('+sip.instance')
  if (instance === undefined || instance === '') return undefined
  const flow = params.get('reg-id') ?? ''
  return `${unquote(instance)};${/^\d{1,10}$/.test(flow) ? flow : ''}`
}

/** Returns the phone of an instance, the same for all of its flows. */
export function phoneOf({ instance, key }: Pick<Binding, 'instance' | 'key'>): string {
  return instance === undefined ? key : instance.slice(0, instance.lastIndexOf(';'))
}

/**
 * Returns the key that identifies a binding within its address of record: the instance, or the place in the Contact.
 * Deviation from RFC 3261 §19.1.4: other parameters of the URI do not count, since some phones change them at each
 * start.
 */
export function keyOf(contact: string, instance: string | undefined): string {
  if (instance !== undefined) return instance
  const uri = sipUriOf(contact)
  if (uri === undefined) return contact
  const { scheme, user = '', host, port = '', params } = uri
  const transport = params.get('transport')?.toLowerCase() ?? ''
  return `${scheme}:${unescapeUri(user)}@${host}:${port};${transport}`
}

/** Reports whether a new binding replaces an existing one. */
export function isSamePhone(there: Binding, next: Binding): boolean {
  if (there.key === next.key) return true
  // The phone has begun, or ceased, to send its instance.
  const isSamePlace = keyOf(there.contact, undefined) === keyOf(next.contact, undefined)
  if (isSamePlace && (there.instance === undefined || next.instance === undefined)) return true
  // RFC 3261 §10.2: one Call-ID is one phone. NAT has given it another address, which is in its Contact.
  return there.callId === next.callId && namesItsSource(there) && namesItsSource(next)
}

function namesItsSource({ contact, remote, instance }: Binding): boolean {
  return instance === undefined && names(contact, remote)
}

/**
 * Reports whether no NAT lies between the phone and us, or its edge: its Contact names where its packets come from, and
 * its Via (RFC 3581) does not contradict. A phone that has learnt its address behind NAT writes it into its Contact, and
 * most leave their own in Via.
 */
export function isWithoutNat(
  { contact, path, remote }: Pick<Binding, 'contact' | 'path' | 'remote'>,
  request: SipRequest,
): boolean {
  const source = path.length === 0 ? remote : heardAt({ path })
  if (source === undefined || !names(contact, source)) return false
  const sentBy = originVia(request)?.host
  return sentBy === undefined || isIP(sentBy) === 0 || toReportedAddress(sentBy) === source.address
}

function names(contact: string, { transport, address, port }: Remote): boolean {
  const uri = sipUriOf(contact)
  if (uri === undefined) return false
  return toReportedAddress(uri.host) === address && (uri.port ?? transports[transport].defaultPort) === port
}

/**
 * Returns the address that the phone's edge proxy received the registration from, as the last Path says; undefined if
 * the Path does not say.
 */
export function heardByEdge({ path }: Pick<Binding, 'path'>): string | undefined {
  return receivedOf(path)?.host
}

/** Like `heardByEdge`, with transport and port. */
export function heardAt({ path }: Pick<Binding, 'path'>): Remote | undefined {
  const received = receivedOf(path)
  if (received === undefined) return undefined
  const transport = transportOf(received.scheme, received.params.get('transport'))
  if (transport === undefined) return undefined
  const { host, port = transports[transport].defaultPort } = received
  return { transport, address: toReportedAddress(host), port }
}

function receivedOf(path: readonly string[]): SipUri | undefined {
  const edge = path.at(-1)
  const received = edge && sipUriOf(parseNameAddr(edge).uri)?.params.get('received')
  const uri = received === undefined ? undefined : sipUriOf(unescapeUri(received))
  return uri !== undefined && isIP(uri.host) !== 0 ? uri : undefined
}

/** Returns the URI for requests when the phone's connection is gone, or undefined if it cannot lead to the phone. */
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
