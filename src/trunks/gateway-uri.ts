// How a gateway is written in a URI, and where that leads.
import { serializeHostPort } from '../sip/message/uri.ts'
import type { Remote, Sip } from '../sip/sip.ts'
import { transports } from '../sip/transport/transports.ts'
import type { TrunkGateway } from './trunks.ts'

export function isSips({ protocol, use_sips_scheme }: TrunkGateway): boolean {
  return use_sips_scheme && transports[protocol].isSecure
}

/** As it stands in sentences. */
export function placeOf({ host, port, protocol }: TrunkGateway): string {
  const isUsual = port === null || port === transports[protocol].defaultPort
  return serializeHostPort({ host, port: isUsual ? undefined : port })
}

export function uriOf(gateway: TrunkGateway): string {
  const place = placeOf(gateway)
  return isSips(gateway) ? `sips:${place}` : `sip:${place};transport=${gateway.protocol}`
}

/** Over TLS the connection is opened first: a certificate that is not believed is then the reason. Rejects with AppError. */
export async function reach(uri: string, sip: Pick<Sip, 'resolve' | 'open'>): Promise<Remote> {
  const remote = await sip.resolve(uri)
  if (remote.name !== undefined) await sip.open(remote)
  return remote
}
