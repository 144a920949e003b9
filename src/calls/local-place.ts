// The platform's side of a call in records and captures: an address, even if Contact and Via have a certificate's name.
import type { HostPort, Peer, Sip } from '../sip/sip.ts'

export function localPlaceOf(sip: Pick<Sip, 'addressFor'>, remote: Peer): HostPort {
  const { host } = sip.addressFor({ address: remote.address })
  return { host, port: sip.addressFor(remote).port }
}
