// What our offers say of our own stream: everything that is spoken at first, and what is in use later.
import { codecs } from '../codecs/codecs.ts'
import type { Encoding } from '../codecs/codecs.ts'
import type { Agreement } from './agreement.ts'
import type { LocalAudio } from './sdp.ts'

type Format = LocalAudio['formats'][number]
type Named = Pick<Format, 'encoding'>

export function isAmong(formats: readonly Named[], { encoding }: Named): boolean {
  return formats.some((one) => one.encoding === encoding)
}

/** `prefers`: the encoding that comes first. */
export function firstOffer(prefers: string | undefined): LocalAudio {
  return {
    formats: beginningWith(prefers, codecs),
    eventPayloadType: 101,
    ptime: 20,
    direction: 'sendrecv',
    hasRtcpMux: false,
    protocol: 'RTP/AVP',
  }
}

/** What is in use already, so that a re-offer changes nothing (RFC 3264 §8). `only`: the one codec to go on with. */
export function nextOffer(
  former: LocalAudio,
  { encoding, receive, hasRtcpMux }: Agreement,
  only: Encoding | undefined,
): LocalAudio {
  const isWanted = (one: Named): boolean =>
    isAmong(receive.codecs, one) && (only === undefined || one.encoding === only)
  const ours = former.formats.filter(isWanted)
  // Past us, two far ends may have gone on with a codec that this one did not have with us.
  const formats = ours.length === 0 ? codecs.filter(isWanted) : ours
  return {
    formats: beginningWith(encoding, formats),
    eventPayloadType: former.eventPayloadType,
    ptime: former.ptime,
    direction: 'sendrecv',
    hasRtcpMux,
    protocol: 'RTP/AVP',
  }
}

function beginningWith(first: string | undefined, formats: readonly Format[]): readonly Format[] {
  return formats
    .map(({ encoding, payloadType }) => ({ encoding, payloadType }))
    .toSorted((a, b) => Number(b.encoding === first) - Number(a.encoding === first))
}
