// What the journal says about where media comes from: it must explain one-way audio to an operator at night.
import type { MediaEvent, StreamStats } from '../../media/media.ts'
import type { MediaFact } from '../journal/journal.ts'

type Place = MediaEvent & { type: 'first-packet' | 'moved' }
type Timeout = MediaEvent & { type: 'timeout' }

const reasons: Readonly<Record<Place['trust'], string>> = {
  sdp: 'it is the place that the SDP names',
  'sdp-address': 'the SDP names its address, with another port',
  'sip-address': 'signalling comes from its address: the far end is behind NAT',
  'same-stream': 'it goes on with the numbers of the stream that was heard before',
  'behind-nat':
    'the SDP names a private address, nothing came from there or from where signalling comes from, and this was the first place to keep one stream: the far end seems to be behind NAT with several addresses',
}

const ignored =
  'packets from here are dropped: neither SDP nor signalling names this place, or the far end is heard from another one'

/** Undefined for what is written down elsewhere. */
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
    case 'digit':
    case 'layer-ended':
    case 'talk':
    case 'timeout':
    case 'lost':
      return undefined
    default:
      return event satisfies never
  }
}

export function toSilenceFact(
  { silentMs, cause }: Timeout,
  heard: { readonly wasHeard: boolean; readonly hasIgnored: boolean },
): MediaFact {
  return { type: 'media-timeout', silent_ms: silentMs, cause, because: silenceOf(heard) }
}

function silenceOf({ wasHeard, hasIgnored }: { wasHeard: boolean; hasIgnored: boolean }): string {
  if (wasHeard) return 'the far end was heard before and sends nothing any more'
  return hasIgnored
    ? 'packets came only from places that neither the SDP nor signalling names'
    : 'no packet of the far end ever came: a firewall or a wrong address keeps them back'
}

export function toClosedFact(stats: StreamStats): MediaFact {
  const { remote } = stats
  return {
    type: 'media-closed',
    codec: stats.codec,
    packets_sent: stats.packetsSent,
    packets_received: stats.packetsReceived,
    packets_lost: stats.packetsLost,
    packets_ignored: stats.packetsIgnored,
    jitter_ms: stats.jitterMs,
    ...(remote === undefined
      ? {}
      : { remote_packets_lost: remote.packetsLost, remote_jitter_ms: remote.jitterMs }),
    ...(remote?.roundTripMs === undefined ? {} : { round_trip_ms: remote.roundTripMs }),
  }
}
