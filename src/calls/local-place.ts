// Our side of a call as records and captures have it: an address, where Contact and Via may say the name of a certificate.
import type { HostPort, Peer, Sip } from '../sip/sip.ts'

export function localPlaceOf(sip: Pick<Sip, 'addressFor'>, remote: Peer): HostPort {
  const { host } = sip.addressFor({ address: remote.address })
  return { host, port: sip.addressFor(remote).port }
}
