// The destinations of a request to a URI: RFC 3263 for the transports that we open connections by.
import { isIP, isIPv4 } from 'node:net'
import { AppError } from '../../lib/errors.ts'
import type { Names, ResolvedAddress } from '../../network/names.ts'
import { toReportedAddress } from '../../network/reported-address.ts'
import { tryParseUri, type SipUri } from '../message/uri.ts'
import { servingHosts, type ServiceNames, type ServingHost } from './services.ts'
import { transportOf, transports, type Remote, type Transport } from './transports.ts'

export interface UriResolverOptions {
  readonly lookup: (host: string) => Promise<readonly ResolvedAddress[]>
  /** The lookup of DNS service records; left out, only the host itself is looked up. */
  readonly names?: (ServiceNames & Pick<Names, 'isOfMachine'>) | undefined
  /** The address that we send from. From an IPv4 address only IPv4 can be reached. */
  readonly bind: string
  /**
   * Reports whether this transport has a port here, for requests of the far end. Left out, only clear transports have
   * one.
   */
  readonly serves?: (transport: Transport) => boolean
  /** Reports whether a place lately did not respond: it is sorted behind the others. */
  readonly isResting?: (place: Remote) => boolean
  readonly random?: (() => number) | undefined
}

/** A place, and the alternatives for the same URI if it does not respond: RFC 3263 §4.3. */
export interface Resolved extends Remote {
  readonly alternatives?: readonly Remote[]
}

/** Rejects with `sip_unreachable` when the URI names nothing that we can send to. */
export type ResolveUri = (uri: string) => Promise<Resolved>

const maxPlaces = 8

export function createUriResolver(options: UriResolverOptions): ResolveUri {
  const { lookup, names, bind, serves = isClear, isResting = () => false, random = Math.random } = options
  const families = isIPv4(bind) ? [4] : [6, 4]

  async function addressesOf(host: string): Promise<readonly string[]> {
    if (isIP(host) !== 0) return [toReportedAddress(host)]
    const addresses = await lookup(host).catch((error: unknown) => {
      throw unresolved(host, error)
    })
    const usable = families.flatMap((family) => addresses.filter((one) => one.family === family))
    if (usable.length === 0) throw unresolved(host)
    return usable.map(({ address }) => toReportedAddress(address))
  }

  /** Returns the hosts that DNS records name; none for a URI with a port or an address, which needs no records. */
  async function servingAt(uri: SipUri): Promise<readonly ServingHost[]> {
    const isNamed = isIP(uri.host) === 0 && uri.port === undefined
    if (names === undefined || !isNamed || (await names.isOfMachine(uri.host))) return []
    const isSips = uri.scheme === 'sips'
    const transport = uri.params.has('transport') ? wayTo(uri, serves) : undefined
    return servingHosts({ host: uri.host, isSips, transport, serves, random }, names)
  }

  async function placesOf({ transport, host, port }: ServingHost, name: string): Promise<readonly Remote[]> {
    const isSecure = transports[transport].isSecure
    // RFC 5922 §7.1: the far end must prove the domain of the URI, wherever the records lead.
    const more = isSecure ? { name } : {}
    return (await addressesOf(host)).map((address) => ({ transport, address, port, ...more }))
  }

  return async (text) => {
    const uri = tryParseUri(text)
    if (uri === undefined || uri.scheme === 'tel')
      throw new AppError('sip_unreachable', 'the URI does not begin with sip: or sips:')
    const transport = wayTo(uri, serves)
    const found = await servingAt(uri)
    const itself = { transport, host: uri.host, port: uri.port ?? transports[transport].defaultPort }
    const hosts = found.length === 0 ? [itself] : found
    const [failure, places] = await collect(hosts.map((host) => placesOf(host, uri.host)))
    const awake = places.filter((place) => !isResting(place))
    const [first, ...others] = [...awake, ...places.filter((place) => !awake.includes(place))]
    if (first === undefined) throw failure ?? unresolved(uri.host)
    return others.length === 0 ? first : { ...first, alternatives: others }
  }
}

/** Collects the places. A target whose name cannot be resolved does not discard the others. */
async function collect(
  asked: readonly Promise<readonly Remote[]>[],
): Promise<readonly [failure: unknown, places: readonly Remote[]]> {
  const outcomes = await Promise.allSettled(asked)
  const failed = outcomes.find((outcome) => outcome.status === 'rejected')
  const places = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? outcome.value : []))
  return [failed?.reason, places.slice(0, maxPlaces)]
}

function wayTo({ scheme, params }: SipUri, serves: (transport: Transport) => boolean): Transport {
  const transport = transportOf(scheme, params.get('transport'))
  if (transport === undefined) throw new AppError('sip_unreachable', 'the URI asks for another transport')
  if (!transports[transport].isOpenedHere)
    throw new AppError('sip_unreachable', 'the URI leads over a WebSocket, which only its far end can open')
  if (!serves(transport))
    throw new AppError('sip_unreachable', 'the URI asks for TLS, and SWITCHHOOK_SIPS_PORT is not set', {
      cure: 'Set SWITCHHOOK_SIPS_PORT: calls can leave over TLS only if TLS is also served.',
    })
  return transport
}

function isClear(transport: Transport): boolean {
  return !transports[transport].isSecure
}

function unresolved(host: string, cause?: unknown): AppError {
  if (cause instanceof AppError) return cause
  if (cause instanceof Error && 'code' in cause && cause.code === 'EAI_AGAIN')
    return new AppError('sip_unreachable', 'no name server could say where the host of the URI is', {
      cause,
      detail: { host },
      cure: 'Check the name servers of the machine, or of SWITCHHOOK_NAME_SERVERS, and try again. `npm run doctor` asks them.',
    })
  return new AppError('sip_unreachable', 'the host of the URI has no address', { cause, detail: { host } })
}
