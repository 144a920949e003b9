// The journal entries about the source of media. They must explain one-way audio to an operator at night.
import { AppError } from '../../lib/errors.ts'
import type { MediaEvent, OfferedHandshake, StreamStats } from '../../media/media.ts'
import type { NonDelivery } from '../../media/rtp/delivery.ts'
import type { Endpoint } from '../../media/rtp/source.ts'
import type { PathLoss } from '../../media/browsers/messages.ts'
import type { Remote } from '../../sip/sip.ts'
import { transports } from '../../sip/transport/transports.ts'
import type { MediaFact } from '../journal/journal.ts'

type Place = MediaEvent & { type: 'first-packet' | 'moved' }
type Timeout = MediaEvent & { type: 'timeout' }

const reasons: Readonly<Record<Place['trust'], string>> = {
  sdp: 'it is the place that the SDP names',
  'sdp-address': 'the SDP names its address, with another port',
  'sip-address': 'signalling comes from its address: the far end is behind NAT',
  'same-stream': 'it continues the packet numbers of the stream that was heard before',
  authentic: 'its packets have the key of the call',
  handshake: 'the handshake was made from here, with the certificate that the SDP names',
  'behind-nat':
    'the SDP names a private address, nothing came from there or from where signalling comes from, and this was the first place to keep one stream: the far end seems to be behind NAT with several addresses',
}

/** Returns the encryption to offer. A far end over a WebSocket is a browser, which accepts only DTLS (RFC 8834). */
export function protectionTowards({ transport }: Pick<Remote, 'transport'>): OfferedHandshake | undefined {
  return transports[transport].isOpenedHere ? undefined : { dtls: 'browser' }
}

/** The reasons why media over DTLS never began, or ended. */
const pathLossSentences: Readonly<Record<PathLoss, string>> = {
  'no-path':
    'no media path to the far end was found: a firewall blocks UDP, or the address that we name is wrong',
  'wrong-certificate': 'the certificate of the media handshake is not the one that the SDP names',
  'no-handshake': 'the media handshake with the far end was not completed',
  closed: 'the far end has closed its media path: the page of a browser was closed, left or loaded again',
  'consent-lost': 'the far end no longer answers on its media path: it has ended, or its network is gone',
  'process-lost': 'the process that carried the media of browsers ended',
}

/** Returns the failure if the media event ends the leg immediately. */
export function failureOf(event: MediaEvent): AppError | undefined {
  if (event.type === 'path-lost') return new AppError('media_path_lost', pathLossSentences[event.loss])
  return event.type === 'lost' ? new AppError('media_lost', 'media server failure') : undefined
}

const ignored =
  'packets from here are dropped: neither SDP nor signalling names this place, or the far end is heard from another one'

const forged =
  'packets come, and none is authentic: the far end encrypts with another key than its SDP names, or these are not its packets'

/** Returns the journal entry of a media event, or undefined for events that are journalled elsewhere. */
export function toMediaFact(event: MediaEvent): MediaFact | undefined {
  switch (event.type) {
    case 'first-packet':
    case 'moved': {
      const { address, port, trust } = event
      const type = event.type === 'moved' ? 'media-moved' : 'media-first-packet'
      return { type, address, port, trust, because: reasons[trust] }
    }
    case 'ignored':
      return { type: 'media-ignored', address: event.address, port: event.port, because: ignored }
    case 'forged':
      return { type: 'media-forged', packets: event.packets, because: forged }
    case 'digit':
    case 'undelivered':
    case 'layer-ended':
    case 'talk':
    case 'timeout':
    case 'path-lost':
    case 'lost':
      return undefined
    default:
      return event satisfies never
  }
}

const gone =
  'the far end sends nothing any more since its WebSocket has closed: the page of a browser was closed or left'

export function toSilenceFact(
  { silentMs, cause }: Timeout,
  heard: { readonly wasHeard: boolean; readonly hasIgnored: boolean },
): MediaFact & { readonly type: 'media-timeout' } {
  return {
    type: 'media-timeout',
    silent_ms: silentMs,
    cause,
    because: cause === 'gone' ? gone : silenceOf(heard),
  }
}

function silenceOf({ wasHeard, hasIgnored }: { wasHeard: boolean; hasIgnored: boolean }): string {
  if (wasHeard) return 'the far end was heard before and sends nothing any more'
  return hasIgnored
    ? 'packets came only from places that neither the SDP nor signalling names'
    : 'no packet of the far end ever came: a firewall or a wrong address keeps them back'
}

export function toClosedFact(stats: StreamStats): MediaFact {
  const { remote, rejected } = stats
  return {
    type: 'media-closed',
    codec: stats.codec,
    packets_sent: stats.packetsSent,
    packets_received: stats.packetsReceived,
    packets_lost: stats.packetsLost,
    packets_ignored: stats.packetsIgnored,
    ...(rejected === undefined
      ? {}
      : { packets_forged: rejected.forged, packets_replayed: rejected.replayed }),
    jitter_ms: stats.jitterMs,
    ...(remote === undefined
      ? {}
      : { remote_packets_lost: remote.packetsLost, remote_jitter_ms: remote.jitterMs }),
    ...(remote?.roundTripMs === undefined ? {} : { round_trip_ms: remote.roundTripMs }),
  }
}

const nameOf = ({ address, port }: Endpoint): string =>
  address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`

/** Returns the sentence for a call on which no packet of the far end has come. `ours` is the place in our SDP. */
export function noReception(
  ours: Endpoint,
  far: Endpoint | undefined,
  { packetsIgnored, packetsNotAgreed, rejected }: StreamStats,
): string {
  const from = far === undefined ? '' : ` from ${nameOf(far)}, the place in the SDP of the far end,`
  const sentence = `no packet${from} has come to ${nameOf(ours)}, the place in our SDP`
  if (packetsNotAgreed > 0)
    return `${sentence}: ${packetsNotAgreed} packets came, in payload types that offer and answer do not name`
  if ((rejected?.forged ?? 0) > 0)
    return `${sentence}: ${rejected?.forged} packets came that the key of the call does not open`
  if (packetsIgnored > 0)
    return `${sentence}: ${packetsIgnored} packets came from places that neither SDP nor signalling names`
  return sentence
}

const shownBy: Readonly<Record<Exclude<NonDelivery, 'unmentioned'>, string>> = {
  lost: 'say that all were lost',
  standing: 'show no new packet',
  absent: 'do not mention our stream any more',
}

/** Returns the sentence for a call on which the far end gets none of our packets. */
export function noDelivery(ours: Endpoint, to: Endpoint, shown: Exclude<NonDelivery, 'unmentioned'>): string {
  return `our packets from ${nameOf(ours)} to ${nameOf(to)} do not arrive: the reports of the far end (RTCP) ${shownBy[shown]}`
}

/** Returns the sentence for a far end whose reports have not mentioned our stream. It may hear us all the same. */
export function noMention(ours: Endpoint, to: Endpoint): string {
  return `the reports of the far end (RTCP) have not mentioned our packets from ${nameOf(ours)} to ${nameOf(to)} yet: they do not arrive, or it reports on no stream`
}
