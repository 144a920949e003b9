// The places of an agreement that may be sent to.
import type { Endpoint } from '../rtp/source.ts'
import type { Agreement } from './agreement.ts'

/**
 * Returns the agreement without the places that may not be sent to. The stream then sends to the place that packets
 * come from, and sends nothing before one has come.
 */
export function permitted(
  agreement: Agreement,
  maySendTo: (address: string) => boolean,
  mustBeHeard: (address: string) => boolean = () => false,
): Agreement {
  const { remote, remoteRtcp } = agreement
  const kept = (place: Endpoint | undefined): Endpoint | undefined =>
    place !== undefined && maySendTo(place.address) ? place : undefined
  const barred = kept(remote) === undefined ? remote : undefined
  const addresses = [remote, remoteRtcp].flatMap((place) => (place === undefined ? [] : [place.address]))
  // Over DTLS-SRTP, a handshake is made before anything is sent.
  const mustBeHeardAt = agreement.protection.form === 'browser' ? [] : addresses.filter(mustBeHeard)
  return { ...agreement, remote: kept(remote), remoteRtcp: kept(remoteRtcp), barred, mustBeHeardAt }
}
