// The choice of our stream among the media lines of the far end's SDP, and its codecs, address and direction
// (RFC 3264, RFC 4566).
import { isIP } from 'node:net'
import { AppError } from '../../lib/errors.ts'
import type { LocalAddress } from '../../network/local-address.ts'
import { clockRateOf, codecNamed, codecs as spokenCodecs, type Encoding } from '../codecs/codecs.ts'
import type { Endpoint } from '../rtp/source.ts'
import { eventClocks, type CodecFormat, type EventFormat } from './formats.ts'
import { isOverTcp, namedProtection } from './profiles.ts'
import type { Direction, Format, MediaSection, ParsedSdp } from './sdp.ts'

/** The payload types that the far end may send. */
export interface Receivable {
  readonly codecs: readonly CodecFormat[]
  readonly events: readonly EventFormat[]
  readonly noises: readonly number[]
}

// RFC 3389: static, so phones send it in pauses without negotiation.
const ourNoisePayloadType = 13
const maxNamedFormats = 10
const spokenNames = spokenCodecs
  .map(({ encoding }) => encoding)
  .join(', ')
  .replace(/, (?=\w+$)/, ' and ')
const maxNameChars = 24

/** The warn-codes of RFC 3261 §20.43 for a description. */
type Warning = 300 | 301 | 302 | 304 | 305 | 306 | 307 | 330

export function refused(message: string, warning?: Warning): AppError {
  return new AppError('media_not_acceptable', message, { warning })
}

/** Returns the error for an answer to an offer of SRTP. */
export function unencrypted(message: string): AppError {
  return new AppError('media_not_acceptable', message, {
    cure: 'Let the far end take SRTP with AES_CM_128_HMAC_SHA1_80, keyed by a=crypto lines (RFC 4568), or call it without SRTP.',
  })
}

function isEvent({ encoding, rate }: Format): boolean {
  return encoding === 'TELEPHONE-EVENT' && eventClocks.includes(rate)
}

/**
 * Returns the events beside this codec. A phone with wideband codecs names them once for each clock rate (RFC 4733
 * §2.1), and some carriers map one number to several clock rates: it then has the rate of the codec.
 */
export function eventsOf(section: MediaSection, beside: Encoding): EventFormat[] {
  const codecs = new Set(spokenIn(section).map(({ payloadType }) => payloadType))
  const events = section.formats
    .filter((format) => isEvent(format) && !codecs.has(format.payloadType))
    .map(({ payloadType, rate }) => ({ payloadType, clockRate: rate }))
  return events.filter((event) => {
    const same = events.filter(({ payloadType }) => payloadType === event.payloadType)
    return event === (same.find(({ clockRate }) => clockRate === clockRateOf(beside)) ?? same[0])
  })
}

function noisesOf(section: MediaSection): number[] {
  return section.formats.filter(({ encoding }) => encoding === 'CN').map(({ payloadType }) => payloadType)
}

/**
 * Returns the supported codecs of the line, in its order. A number with several meanings has the first one that is
 * supported.
 */
export function spokenIn(section: MediaSection): Receivable['codecs'] {
  const known = new Set<number>()
  return section.formats.flatMap((format) => {
    const { encoding, rate, payloadType } = format
    const codec = codecNamed(encoding, rate)
    if (known.has(payloadType) || (codec === undefined && !isEvent(format))) return []
    known.add(payloadType)
    return codec === undefined ? [] : [{ encoding: codec.encoding, payloadType }]
  })
}

/** Returns the codecs of a line for a message to people; events and comfort noise are not codecs. */
export function codecsOf(section: MediaSection): string {
  const names = section.formats
    .filter(({ encoding }) => encoding !== 'TELEPHONE-EVENT' && encoding !== 'CN')
    .map(({ encoding, rate }) => encoding.slice(0, maxNameChars) + (rate === 0 ? '' : `/${rate}`))
  if (names.length === 0) return 'none'
  const more = names.length > maxNamedFormats ? ' and more' : ''
  return names.slice(0, maxNamedFormats).join(', ') + more
}

/**
 * Returns the longest of our packet durations that the far end accepts: a half or a quarter of a frame if its limit
 * is that small.
 */
export function packetMsFor({ maxptime }: MediaSection, encoding: Encoding): number {
  // A coded Opus frame cannot be split.
  if (encoding === 'OPUS') return 20
  return [20, 10].find((ms) => maxptime === undefined || ms <= maxptime) ?? 5
}

/** Returns the suites of a line without a usable one, for a message to people. */
function suitesIn({ crypto }: MediaSection): string {
  const names = crypto.others
    .slice(0, maxNamedFormats)
    .map(({ text }) => text)
    .join(', ')
  return names === '' ? 'it has no a=crypto line' : `the suites of its a=crypto lines are: ${names}`
}

/** Returns why this line cannot be our stream; undefined if it can. */
export function objectionTo(section: MediaSection, verb: 'offered' | 'answered'): AppError | undefined {
  const fault = faultOf(section, verb)
  if (fault === undefined) return undefined
  const [warning, text] = fault
  const cure =
    section.protection === 'sdes'
      ? section.crypto.others.find((line) => line.cure !== undefined)?.cure
      : undefined
  const isUsable = section.crypto.usable.length > 0
  return isUsable || cure === undefined
    ? refused(text, warning)
    : new AppError('media_not_acceptable', text, { cure, warning })
}

function faultOf(section: MediaSection, verb: 'offered' | 'answered'): [Warning, string] | undefined {
  if (section.type !== 'audio' || section.port === 0) return [304, 'the SDP offers no audio stream']
  if (section.port > 65_535) return [307, 'the audio port of the SDP is out of range']
  const { protection } = section
  if (protection === undefined)
    return [302, `the audio stream is ${verb} over another profile than those of RTP, SRTP and DTLS-SRTP`]
  if (protection === 'sdes' && section.crypto.usable.length === 0)
    return [
      306,
      `the audio stream is ${verb} over ${section.protocol} without a key that can be used; ${suitesIn(section)}`,
    ]
  if (protection === 'dtls' && section.path === undefined)
    return [
      306,
      `the audio stream is ${verb} with DTLS, and the SDP lacks a setup attribute, a fingerprint of SHA-256 or better, or one of the two ICE credentials`,
    ]
  if (section.profile !== undefined && isOverTcp(section.profile) && section.path?.ice === undefined)
    return [302, `the audio stream is ${verb} over TCP; only ICE can move it to UDP, and the SDP has none`]
  if (protection === 'dtls' && !section.hasRtcpMux)
    return [306, `the audio stream is ${verb} with DTLS and without rtcp-mux`]
  if (spokenIn(section).length === 0)
    return [305, `the audio stream is ${verb} without ${spokenNames}; its codecs are: ${codecsOf(section)}`]
  return undefined
}

/** Returns an answer to an offer without a path. A fingerprint in it has no meaning: its profile and keys have. */
export function withoutPath(section: MediaSection): MediaSection {
  const named = section.profile && namedProtection(section.profile)
  return named === 'dtls' ? section : { ...section, protection: named, path: undefined }
}

interface Chosen {
  readonly section: MediaSection
  /** The far end's address. */
  readonly address: string
}

function isUnspecified(address: string): boolean {
  return /^[0:.]+$/.test(address)
}

function isMulticast(address: string): boolean {
  if (address.includes(':')) return /^ff/i.test(address)
  return Number(address.split('.', 1)[0]) >= 224
}

/** Returns the first address of the line that we can exchange packets with. Throws media_not_acceptable. */
export function addressOf({ addresses, path }: MediaSection, local: LocalAddress): string {
  // ICE determines the place for packets, whatever the connection line says.
  if (path?.ice !== undefined) return path.ice.candidates[0]?.address ?? '0.0.0.0'
  const usable = addresses.filter((address) => isIP(address) !== 0)
  const [first] = usable
  if (first === undefined) throw refused('the connection line of the SDP names no IP address', 301)
  const served = usable.find((address) => isUnspecified(address) || local.serves(address))
  if (served === undefined)
    throw refused(`the SDP offers IPv${isIP(first)} media, over which this platform cannot be reached`, 300)
  if (isMulticast(served) && !isUnspecified(served))
    throw refused('the connection line of the SDP is not a unicast address', 330)
  return served
}

/**
 * Returns the lines in order of preference: encrypted ones first, and alternatives as ranked by the far end
 * (RFC 4091 §3.2).
 */
function inOrder({ sections, alternatives }: ParsedSdp): readonly MediaSection[] {
  const ranks = new Map(alternatives.flat().map((mid, index) => [mid, index]))
  const rankOf = ({ mid }: MediaSection): number => (mid === undefined ? undefined : ranks.get(mid)) ?? 0
  const isPlain = ({ protection }: MediaSection): boolean => protection === undefined || protection === 'none'
  return sections.toSorted((a, b) => Number(isPlain(a)) - Number(isPlain(b)) || rankOf(a) - rankOf(b))
}

/** Returns whether every audio line has the port 0, by which a far end ends a stream: RFC 3264 §8.2. */
export function endsAudio({ sections }: ParsedSdp): boolean {
  const audio = sections.filter(({ type }) => type === 'audio')
  return audio.length > 0 && audio.every(({ port }) => port === 0)
}

/**
 * Returns the first audio line that fits. Otherwise throws the objection to the first audio line, or to having none.
 */
export function chooseSection(sdp: ParsedSdp, local: LocalAddress): Chosen {
  let objection: AppError | undefined
  for (const section of inOrder(sdp)) {
    if (section.type !== 'audio' || section.port === 0) continue
    try {
      const refusal = objectionTo(section, 'offered')
      if (refusal !== undefined) throw refusal
      return { section, address: addressOf(section, local) }
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      objection ??= error
    }
  }
  throw objection ?? refused('the SDP offers no audio stream', 304)
}

/** Returns the place for the far end's media; undefined for the hold of RFC 2543, an unspecified address. */
export function remoteOf({ section, address }: Chosen): Endpoint | undefined {
  if (section.path?.ice !== undefined)
    return section.path.ice.candidates[0] ?? { address, port: section.port }
  return isUnspecified(address) ? undefined : { address, port: section.port }
}

export function rtcpOf(section: MediaSection, remote: Endpoint | undefined): Endpoint | undefined {
  if (remote === undefined) return undefined
  const { rtcp } = section
  // No socket sends to a port that does not exist: the attempt would end the worker and all its calls.
  const next = Math.min(remote.port + 1, 65_535)
  if (rtcp === undefined) return { address: remote.address, port: next }
  const { address } = rtcp
  const isUsable = address !== undefined && isIP(address) === isIP(remote.address) && !isMulticast(address)
  const port = rtcp.port > 0 && rtcp.port <= 65_535 ? rtcp.port : next
  return { address: isUsable ? address : remote.address, port }
}

const mirrored: Readonly<Record<Direction, Direction>> = {
  sendrecv: 'sendrecv',
  sendonly: 'recvonly',
  recvonly: 'sendonly',
  inactive: 'inactive',
}

/** Returns our direction as the mirror of the far end's. Without an address we cannot send. */
export function directionTowards(section: MediaSection, remote: Endpoint | undefined): Direction {
  const direction = mirrored[section.direction]
  if (remote !== undefined) return direction
  return direction === 'sendrecv' ? 'recvonly' : direction === 'sendonly' ? 'inactive' : direction
}

export function maySend(direction: Direction): boolean {
  return direction === 'sendrecv' || direction === 'sendonly'
}

export function mayReceive(direction: Direction): boolean {
  return direction === 'sendrecv' || direction === 'recvonly'
}

/**
 * Returns the given formats, the events and noise of the line, and comfort noise, which is sent without being named.
 */
export function toReceivable(
  section: MediaSection,
  { codecs, events, beside }: Pick<Receivable, 'codecs' | 'events'> & { readonly beside: Encoding },
): Receivable {
  return {
    codecs,
    events: [...events, ...eventsOf(section, beside)],
    noises: [ourNoisePayloadType, ...noisesOf(section)],
  }
}
