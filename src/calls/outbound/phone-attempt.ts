// The INVITE to a carrier's gateway for a phone number.
import { isIP } from 'node:net'
import { AppError } from '../../lib/errors.ts'
import type { HeaderField } from '../../sip/message/message.ts'
import { parseNameAddr, serializeNameAddr, splitAddresses } from '../../sip/message/name-addr.ts'
import { escapeUser, parseUri, serializeHostPort, serializeUri, unescapeUri } from '../../sip/message/uri.ts'
import { transports } from '../../sip/transport/transports.ts'
import type { SignedIdentity } from '../../contracts/number-trust.ts'
import { readDialled } from '../defence/dialled-number.ts'
import type { OutboundCarrier, OutboundGateway } from '../ports.ts'
import type { AttemptInvite } from './attempt.ts'
import { callerFields, type CallerFields, type CallerOrder } from './caller-identity.ts'
import type { Credentials } from '../verb/target.ts'

export interface PhoneAttempt {
  readonly order: CallerOrder
  readonly number: string
  readonly auth: Credentials | undefined
  readonly carrier: OutboundCarrier
  readonly gateway: OutboundGateway
  /** The Route set from the carrier's registrar. */
  readonly routes: readonly string[]
  /** Signs the caller. Returns undefined if the call is not signed. */
  readonly identity: () => SignedIdentity | undefined
  readonly mayReach: NonNullable<AttemptInvite['mayReach']>
  /** The address of the platform. It is in From if nothing else is. */
  readonly host: string
}

export function toInvite(attempt: PhoneAttempt): AttemptInvite {
  const { order, carrier, number, routes, host } = attempt
  const caller = callerFields(order, carrier.register_from_domain ?? host)
  const place = placeOf(attempt)
  const uri = uriAt(`${escapeUser(toDialled(number, carrier))}@${place}`, attempt.gateway)
  const credentials = attempt.auth ?? credentialsOf(carrier)
  const called = carrier.send_user_phone ? withUserPhone(uri) : uri
  const headers = [...caller.headers, ...diversionOf(carrier, caller, place)]
  return {
    ...caller,
    from: carrier.send_user_phone ? withUserPhone(caller.from) : caller.from,
    contactUser: carrier.register_username ?? caller.contactUser,
    headers: signed(carrier.send_user_phone ? headers.map(assertedAsPhone) : headers, attempt),
    uri: called,
    to: called,
    mayReach: attempt.mayReach,
    takesUntagged: true,
    ...(routes.length === 0 ? {} : { routes }),
    ...(credentials === undefined ? {} : { credentials }),
  }
}

function assertedAsPhone({ name, value }: HeaderField): HeaderField {
  if (name !== 'p-asserted-identity') return { name, value }
  return { name, value: splitAddresses(value).map(withUserPhone).join(', ') }
}

/** Adds user=phone to a SIP URI, or to that in an address, if its user is a number (RFC 3261 §19.1.6). */
function withUserPhone(text: string): string {
  try {
    const address = text.includes('<') ? parseNameAddr(text) : undefined
    const uri = parseUri(address?.uri ?? text)
    if (uri.scheme === 'tel' || readDialled(unescapeUri(uri.user ?? '')) === undefined) return text
    const phone = serializeUri({
      ...uri,
      params: new Map([['user', 'phone'], ...uri.params, ['user', 'phone']]),
    })
    return address === undefined ? phone : serializeNameAddr({ ...address, uri: phone })
  } catch (error) {
    // An application may write anything into a header.
    if (error instanceof AppError) return text
    throw error
  }
}

/** Returns the number in the format of the carrier. Its prefix comes before the plus. */
export function toDialled(
  number: string,
  { tech_prefix, e164_leading_plus }: Pick<OutboundCarrier, 'tech_prefix' | 'e164_leading_plus'>,
): string {
  const bare = number.replace(/^\+/, '')
  const plus = e164_leading_plus && /^[1-9]/.test(bare) ? '+' : ''
  return `${tech_prefix ?? ''}${plus}${bare}`
}

/** Returns the next hop of the request: the gateway, unless the carrier has a proxy before it. */
export function nextHopOf(
  {
    outbound_sip_proxy: proxy,
    requires_register,
  }: Pick<OutboundCarrier, 'outbound_sip_proxy' | 'requires_register'>,
  gateway: OutboundGateway,
): string {
  if (proxy === null || proxy === '' || requires_register) return uriAt(exactPlaceOf(gateway), gateway)
  if (!/^sips?:/i.test(proxy)) return uriAt(proxy, gateway)
  return /^sips:|;transport=/i.test(proxy) ? proxy : `${proxy};transport=${gateway.protocol}`
}

/** Returns the URI. With sips: it names no transport (RFC 5630 §3.1.1). */
function uriAt(place: string, { protocol, use_sips_scheme = false }: OutboundGateway): string {
  return use_sips_scheme && transports[protocol].isSecure
    ? `sips:${place}`
    : `sip:${place};transport=${protocol}`
}

/** Returns the host of the Request-URI. A carrier with registration accepts only its realm, not the gateway. */
function placeOf({ carrier, gateway }: PhoneAttempt): string {
  const { requires_register, register_sip_realm: realm } = carrier
  return requires_register && realm !== null ? realm : hostPortOf(gateway)
}

/** Returns host and port as they appear in URIs and sentences. */
export function hostPortOf({ host, port, protocol }: OutboundGateway): string {
  const isUsual = port === null || port === transports[protocol].defaultPort
  return serializeHostPort({ host, port: isUsual ? undefined : port })
}

/** Returns host and port. A stored default port is kept, since without a port SRV records decide (RFC 3263 §4.2). */
function exactPlaceOf(gateway: OutboundGateway): string {
  const { host, port } = gateway
  return port === null || isIP(host) !== 0 ? hostPortOf(gateway) : serializeHostPort({ host, port })
}

function credentialsOf({
  register_username: username,
  register_password: password,
}: OutboundCarrier): Credentials | undefined {
  return username === null || password === null ? undefined : { username, password }
}

/** Adds the signature. The signed time replaces any other Date in the INVITE (RFC 8224 §4.1). */
function signed(headers: CallerFields['headers'], { identity }: PhoneAttempt): CallerFields['headers'] {
  const signature = identity()
  if (signature === undefined) return headers
  return [
    ...headers.filter(({ name }) => name !== 'date'),
    { name: 'date', value: signature.date },
    { name: 'identity', value: signature.identity },
  ]
}

function diversionOf(
  { diversion }: OutboundCarrier,
  { headers }: CallerFields,
  place: string,
): CallerFields['headers'] {
  if (diversion === null || diversion === '' || headers.some(({ name }) => name === 'diversion')) return []
  const number = escapeUser(diversion.replace(/^\+/, ''))
  return [{ name: 'diversion', value: `<sip:+${number}@${place}>;reason=unknown;counter=1;privacy=off` }]
}
