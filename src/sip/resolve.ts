// Where a request to a URI goes: RFC 3263 for what we speak, UDP and TCP.
import { isIP, isIPv4 } from 'node:net'
import { AppError } from '../lib/errors.ts'
import type { ResolvedAddress } from '../network/names.ts'
import { tryParseUri } from './message/uri.ts'
import type { Remote } from './sip.ts'
import { defaultTransport, toTransport, transports } from './transport/transports.ts'

export interface UriResolverOptions {
  readonly lookup: (host: string) => Promise<readonly ResolvedAddress[]>
  /** The address that we send from: of IPv4, it reaches no other. */
  readonly bind: string
}

/** Rejects with `sip_unreachable` when the URI names nothing we can send to. */
export type ResolveUri = (uri: string) => Promise<Remote>

export function createUriResolver({ lookup, bind }: UriResolverOptions): ResolveUri {
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
    if (uri?.scheme !== 'sip') throw new AppError('sip_unreachable', 'the URI does not begin with sip:')
    const transport = toTransport(uri.params.get('transport') ?? defaultTransport)
    if (transport === undefined) throw new AppError('sip_unreachable', 'the URI asks for another transport')
    const address = isIP(uri.host) === 0 ? await addressOf(uri.host) : uri.host
    return { transport, address, port: uri.port ?? transports[transport].defaultPort }
  }
}

function unresolved(host: string, cause?: unknown): AppError {
  if (cause instanceof AppError) return cause
  return new AppError('sip_unreachable', 'the host of the URI has no address', { cause, detail: { host } })
}
