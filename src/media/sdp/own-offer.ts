// The media line of our own offers: all supported codecs at first, and those in use later.
import { codecs, type Encoding } from '../codecs/codecs.ts'
import type { Agreement } from './agreement.ts'
import { eventsBeside } from './formats.ts'
import type { LocalKeys } from './key-exchange.ts'
import type { LocalAudio } from './sdp.ts'

type Format = LocalAudio['formats'][number]
type Named = Pick<Format, 'encoding'>

export function isAmong(formats: readonly Named[], { encoding }: Named): boolean {
  return formats.some((one) => one.encoding === encoding)
}

export interface FirstOffer {
  /** The encoding that comes first. */
  readonly prefers?: string | undefined
  /** The encodings that it may name; all if undefined. */
  readonly offers?: readonly Encoding[] | undefined
}

/** Returns whether a first offer names one port for RTP and RTCP, as it must on a path. */
export function muxes({ path }: LocalKeys): boolean {
  return path !== undefined
}

export function firstOffer({ prefers, offers }: FirstOffer, keys: LocalKeys): LocalAudio {
  const offered = codecs.filter(({ encoding }) => offers === undefined || offers.includes(encoding))
  return {
    formats: beginningWith(prefers, offered),
    events: eventsBeside(offered),
    ptime: 20,
    direction: 'sendrecv',
    hasRtcpMux: muxes(keys),
    ...keys,
  }
}

/**
 * Returns the line in use, so that a re-offer changes nothing (RFC 3264 §8). `only` is the one codec to continue with.
 */
export function nextOffer(
  former: LocalAudio,
  { encoding, receive, hasRtcpMux }: Agreement,
  { only, keys }: { readonly only: Encoding | undefined; readonly keys: LocalKeys },
): LocalAudio {
  const isWanted = (one: Named): boolean =>
    isAmong(receive.codecs, one) && (only === undefined || one.encoding === only)
  const ours = former.formats.filter(isWanted)
  // While they sent past us, the two far ends may have changed to a codec that this one did not use with us.
  const formats = ours.length === 0 ? codecs.filter(isWanted) : ours
  return {
    formats: beginningWith(encoding, formats),
    events: former.events,
    ptime: former.ptime,
    direction: 'sendrecv',
    hasRtcpMux,
    ...keys,
  }
}

function beginningWith(first: string | undefined, formats: readonly Format[]): readonly Format[] {
  return formats
    .map(({ encoding, payloadType }) => ({ encoding, payloadType }))
    .toSorted((a, b) => Number(b.encoding === first) - Number(a.encoding === first))
}
