// Where a request to a URI goes: RFC 3263 for what we speak, UDP and TCP.
import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { AppError } from '../lib/errors.ts'
import { tryParseUri } from './message/uri.ts'
import { defaultPort } from './transport/response-address.ts'
import type { Remote } from './sip.ts'

/** Rejects with `sip_unreachable` when the URI names nothing we can send to. */
export async function resolveUri(text: string): Promise<Remote> {
  const uri = tryParseUri(text)
  if (uri?.scheme !== 'sip') throw new AppError('sip_unreachable', 'the URI is not one of scheme sip')
  const named = uri.params.get('transport')?.toLowerCase() ?? 'udp'
  if (named !== 'udp' && named !== 'tcp')
    throw new AppError('sip_unreachable', 'the URI asks for another transport')
  const address = isIP(uri.host) === 0 ? await addressOf(uri.host) : uri.host
  return { transport: named, address, port: uri.port ?? defaultPort }
}

/** Deviation from RFC 3263 §4.2: host names are looked up by address only, without NAPTR and SRV records. */
async function addressOf(host: string): Promise<string> {
  try {
    return (await lookup(host)).address
  } catch (error) {
    throw new AppError('sip_unreachable', 'the host of the URI has no address', {
      cause: error,
      detail: { host },
    })
  }
}
