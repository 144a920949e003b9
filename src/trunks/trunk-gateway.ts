// A gateway of a carrier, read from its row.
import { isTransport } from '../sip/transport/transports.ts'
import type { TrunkGateway } from './trunks.ts'

export interface GatewayRow {
  readonly sip_gateway_sid: string
  readonly ipv4: string
  readonly port: number | null
  readonly protocol: string
  readonly use_sips_scheme: number
  readonly send_options_ping: number
}

/** Returns undefined for a transport that is not served. */
export function toTrunkGateway(row: GatewayRow): TrunkGateway | undefined {
  const { sip_gateway_sid, ipv4: host, port } = row
  // SRTP concerns calls only.
  const protocol = row.protocol === 'tls/srtp' ? 'tls' : row.protocol
  if (!isTransport(protocol)) return undefined
  const flags = { use_sips_scheme: row.use_sips_scheme === 1, isWatched: row.send_options_ping === 1 }
  return { sip_gateway_sid, host, port, protocol, ...flags }
}
