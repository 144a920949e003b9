// The URI of a gateway, and the place that it leads to.
import { isIP } from 'node:net'
import { serializeHostPort } from '../sip/message/uri.ts'
import type { Resolved, Sip } from '../sip/sip.ts'
import { knownAs, transports } from '../sip/transport/transports.ts'
import type { TrunkGateway } from './trunks.ts'

export function isSips({ protocol, use_sips_scheme }: TrunkGateway): boolean {
  return use_sips_scheme && transports[protocol].isSecure
}

/** Returns the address for sentences. */
export function placeOf({ host, port, protocol }: TrunkGateway): string {
  const isUsual = port === null || port === transports[protocol].defaultPort
  return serializeHostPort({ host, port: isUsual ? undefined : port })
}

export function uriOf(gateway: TrunkGateway): string {
  const place = placeOf(gateway)
  return isSips(gateway) ? `sips:${place}` : `sip:${place};transport=${gateway.protocol}`
}

/**
 * Returns the URI that requests to the gateway go to. A stored port counts, even the default one: without a port, SRV
 * records decide (RFC 3263 §4.2).
 */
export function hopOf(gateway: TrunkGateway): string {
  const { host, port, protocol } = gateway
  if (port === null || isIP(host) !== 0) return uriOf(gateway)
  const place = serializeHostPort({ host, port })
  return isSips(gateway) ? `sips:${place}` : `sip:${place};transport=${protocol}`
}

/** Resolves the URI. Over TLS it connects first, to report an untrusted certificate. Rejects with AppError. */
export async function reach(
  uri: string,
  sip: Pick<Sip, 'resolve' | 'open'>,
  ourName?: string,
): Promise<Resolved> {
  const remote = knownAs(await sip.resolve(uri), ourName)
  if (remote.name !== undefined) await sip.open(remote)
  return remote
}
