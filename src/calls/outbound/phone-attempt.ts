// What a carrier's gateway is sent for a phone number.
import { escapeUser, serializeHostPort } from '../../sip/message/uri.ts'
import type { OutboundCarrier, OutboundGateway } from '../ports.ts'
import type { AttemptInvite } from './attempt.ts'
import { callerFields } from './caller-identity.ts'
import type { CallerFields, CallerOrder } from './caller-identity.ts'
import type { Credentials } from '../calls.ts'

const sipPort = 5060

export interface PhoneAttempt {
  readonly order: CallerOrder
  readonly number: string
  readonly auth: Credentials | undefined
  readonly carrier: OutboundCarrier
  readonly gateway: OutboundGateway
  /** The address of the platform: what From says when nothing else does. */
  readonly host: string
}

export function toInvite(attempt: PhoneAttempt): AttemptInvite {
  const { order, carrier, number, host } = attempt
  const caller = callerFields(order, carrier.register_from_domain ?? host)
  const place = placeOf(attempt)
  const uri = `sip:${escapeUser(toDialled(number, carrier))}@${place};transport=${attempt.gateway.protocol}`
  const credentials = attempt.auth ?? credentialsOf(carrier)
  return {
    ...caller,
    contactUser: carrier.register_username ?? caller.contactUser,
    headers: [...caller.headers, ...diversionOf(carrier, caller, place)],
    uri,
    to: uri,
    ...(credentials === undefined ? {} : { credentials }),
  }
}

/** The number as the carrier wants it: the prefix comes before the plus. */
export function toDialled(
  number: string,
  { tech_prefix, e164_leading_plus }: Pick<OutboundCarrier, 'tech_prefix' | 'e164_leading_plus'>,
): string {
  const bare = number.replace(/^\+/, '')
  const plus = e164_leading_plus && /^[1-9]/.test(bare) ? '+' : ''
  return `${tech_prefix ?? ''}${plus}${bare}`
}

/** Where the request goes: the gateway, unless the carrier has a proxy before it. */
export function nextHopOf(
  { outbound_sip_proxy: proxy, requires_register }: OutboundCarrier,
  gateway: OutboundGateway,
): string {
  const { protocol } = gateway
  if (proxy === null || proxy === '' || requires_register)
    return `sip:${hostPortOf(gateway)};transport=${protocol}`
  const uri = /^sips?:/i.test(proxy) ? proxy : `sip:${proxy}`
  return /;transport=/i.test(uri) ? uri : `${uri};transport=${protocol}`
}

/** A carrier that the platform registers with knows its own realm only, and the gateway is the way there. */
function placeOf({ carrier, gateway }: PhoneAttempt): string {
  const { requires_register, register_sip_realm: realm } = carrier
  return requires_register && realm !== null ? realm : hostPortOf(gateway)
}

function hostPortOf({ host, port }: OutboundGateway): string {
  return serializeHostPort({ host, port: port === sipPort || port === null ? undefined : port })
}

function credentialsOf({
  register_username: username,
  register_password: password,
}: OutboundCarrier): Credentials | undefined {
  return username === null || password === null ? undefined : { username, password }
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
