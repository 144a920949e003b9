// Where a request to a URI goes: RFC 3263 for the transports that we open connections by.
import { isIP, isIPv4 } from 'node:net'
import { AppError } from '../lib/errors.ts'
import type { ResolvedAddress } from '../network/names.ts'
import { tryParseUri } from './message/uri.ts'
import type { SipUri } from './message/uri.ts'
import type { Remote } from './sip.ts'
import { transportOf, transports } from './transport/transports.ts'
import type { Transport } from './transport/transports.ts'

export interface UriResolverOptions {
  readonly lookup: (host: string) => Promise<readonly ResolvedAddress[]>
  /** The address that we send from: of IPv4, it reaches no other. */
  readonly bind: string
  /** Whether this transport has a port here: requests of the far end come back to it. Left out, none that is secure has. */
  readonly serves?: (transport: Transport) => boolean
}

/** Rejects with `sip_unreachable` when the URI names nothing we can send to. */
export type ResolveUri = (uri: string) => Promise<Remote>

export function createUriResolver({ lookup, bind, serves = isClear }: UriResolverOptions): ResolveUri {
  const families = isIPv4(bind) ? [4] : [6, 4]

  /** Deviation from RFC 3263 §4.2: host names are looked up by address only, without NAPTR and SRV records. */
  async function addressOf(host: string): Promise<string> {
    const addresses = await lookup(host).catch((error: unknown) => {
      throw unresolved(host, error)
    })
    for (const family of families) {
      const found = addresses.find((one) => one.family === family)
      if (found !== undefined) return found.address
    }
    throw unresolved(host)
  }

  return async (text) => {
    const uri = tryParseUri(text)
    if (uri === undefined || uri.scheme === 'tel')
      throw new AppError('sip_unreachable', 'the URI does not begin with sip: or sips:')
    const transport = wayTo(uri, serves)
    const { defaultPort, isSecure } = transports[transport]
    const address = isIP(uri.host) === 0 ? await addressOf(uri.host) : uri.host
    const place = { transport, address, port: uri.port ?? defaultPort }
    return isSecure ? { ...place, name: uri.host } : place
  }
}

function wayTo({ scheme, params }: SipUri, serves: (transport: Transport) => boolean): Transport {
  const transport = transportOf(scheme, params.get('transport'))
  if (transport === undefined) throw new AppError('sip_unreachable', 'the URI asks for another transport')
  if (!transports[transport].isOpenedHere)
    throw new AppError('sip_unreachable', 'the URI leads over a WebSocket, which its far end alone can open')
  if (!serves(transport))
    throw new AppError('sip_unreachable', 'the URI asks for TLS, and SWITCHHOOK_SIPS_PORT is not set')
  return transport
}

function isClear(transport: Transport): boolean {
  return !transports[transport].isSecure
}

function unresolved(host: string, cause?: unknown): AppError {
  if (cause instanceof AppError) return cause
  return new AppError('sip_unreachable', 'the host of the URI has no address', { cause, detail: { host } })
}
