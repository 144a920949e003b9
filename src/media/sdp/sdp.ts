// SDP text, parsed and written (RFC 8866), with limits: the parser gets only the lines that offer/answer uses.
import { parse, write, type MediaDescription, type SessionDescription } from 'sdp-transform'
import { AppError } from '../../lib/errors.ts'
import type { FarSide } from '../browsers/messages.ts'
import { readCrypto, toInline, type CryptoLine, type CryptoLines } from './crypto-lines.ts'
import { linesOf, type CodecFormat, type EventFormat } from './formats.ts'
import { pathOf, toPathLines, type OwnPath } from './path-lines.ts'
import { profileNamed, protectionOf, type Profile, type Protected } from './profiles.ts'
import type { Endpoint } from '../rtp/source.ts'

export type Direction = 'sendrecv' | 'sendonly' | 'recvonly' | 'inactive'

/** One format of an m= line: the payload type and its meaning. */
export interface Format {
  readonly payloadType: number
  readonly encoding: string
  readonly rate: number
  /** The text of its fmtp line. */
  readonly parameters?: string
}

/** One m= line of the far end, with session-level defaults applied. */
export interface MediaSection {
  readonly type: string
  readonly port: number
  /** The protocol as written, to be repeated if the line is refused. */
  readonly protocol: string
  /** Undefined if it is not known. */
  readonly profile: Profile | undefined
  /** How its packets are protected, by its profile and its keys; undefined if the profile is not known. */
  readonly protection: Protected | undefined
  readonly payloads: string
  /** The addresses of the connection lines, in order; `0.0.0.0` and `::` mean hold. */
  readonly addresses: readonly string[]
  readonly direction: Direction
  /**
   * A payload type that is not known is represented by its number. One that the far end maps several times is here
   * with each meaning.
   */
  readonly formats: readonly Format[]
  /** The longest packet that the far end accepts, in ms. */
  readonly maxptime: number | undefined
  readonly mid: string | undefined
  readonly rtcp: { readonly port: number; readonly address: string | undefined } | undefined
  readonly hasRtcpMux: boolean
  readonly crypto: CryptoLines
  /** The path of a DTLS line; undefined for other lines, and if its description is incomplete. */
  readonly path: FarSide | undefined
}

export interface ParsedSdp {
  readonly sections: readonly MediaSection[]
  /** The mids of lines that are one stream over different IP versions, preferred first: RFC 4091. */
  readonly alternatives: readonly (readonly string[])[]
}

// SDPs of browsers with all codecs and candidates stay under 16 kB; phones send less than 2 kB.
const maxCharacters = 32_768
const maxLineCharacters = 1024
const maxSections = 16
// Some carriers map a number to events in two clock rates.
const maxMaps = 4
const cryptoPrefix = 'a=crypto:'
// Attributes that are not listed are not passed to the parser.
const readLines =
  /^(?:[vosctm]=|a=(?:rtpmap:|fmtp:|rtcp:|(?:rtcp-mux|sendrecv|sendonly|recvonly|inactive)[ \t]*$|maxptime:|mid:|extmap-allow-mixed[ \t]*$|crypto:|group:ANAT |ice-ufrag:|ice-pwd:|fingerprint:|setup:|candidate:))/

// Payload types with a fixed meaning, which need no rtpmap: RFC 3551 §6 table 4. Except for G.711, G.722 and comfort
// noise they are listed only to be named in refusals.
const staticEncodings: Readonly<Record<number, string>> = {
  0: 'PCMU',
  3: 'GSM',
  4: 'G723',
  7: 'LPC',
  8: 'PCMA',
  9: 'G722',
  13: 'CN',
  15: 'G728',
  18: 'G729',
}

function staticFormat(payloadType: number): Format {
  const encoding = staticEncodings[payloadType]
  return encoding === undefined
    ? { payloadType, encoding: `payload type ${payloadType}`, rate: 0 }
    : { payloadType, encoding, rate: 8000 }
}

function refused(message: string): AppError {
  return new AppError('media_not_acceptable', message)
}

function formatsOf(media: MediaDescription): Format[] {
  const words = String(media.payloads ?? '').split(' ')
  const numbers = new Set(words.filter((word) => /^\d{1,3}$/.test(word) && Number(word) <= 127).map(Number))
  return [...numbers].flatMap((payloadType) => {
    const parameters = media.fmtp.find((line) => line.payload === payloadType)?.config
    const maps = media.rtp.filter((map) => map.payload === payloadType).slice(0, maxMaps)
    const formats = maps.map(({ codec, rate }) =>
      toFormat(payloadType, String(codec).toUpperCase(), rate ?? 0),
    )
    const meant = formats.length === 0 ? [staticFormat(payloadType)] : formats
    return parameters === undefined
      ? meant
      : meant.map((format) => ({ ...format, parameters: String(parameters) }))
  })
}

/**
 * Returns the format of an rtpmap line. A static payload type has its own clock rate whatever the line says: phones
 * write the sampling rate of G.722, of which RFC 3551 §4.5.2 warns.
 */
function toFormat(payloadType: number, encoding: string, rate: number): Format {
  return staticEncodings[payloadType] === encoding
    ? staticFormat(payloadType)
    : { payloadType, encoding, rate }
}

/**
 * Returns the addresses of the session, then those of each media line. Parsed here because the parser keeps only one
 * of several connection lines, and senders with both IP versions write one for each.
 */
function addressesOf(lines: readonly string[]): readonly string[][] {
  const found: string[][] = [[]]
  for (const line of lines) {
    if (line.startsWith('m=')) found.push([])
    const address = /^c=IN IP[46] ([^\s/]+)/.exec(line)?.[1]
    if (address !== undefined) found.at(-1)?.push(address)
  }
  return found
}

/** Returns the values of the a=crypto lines of each media line. The session has none: RFC 4568 §4. */
function keysOf(lines: readonly string[]): readonly string[][] {
  const found: string[][] = []
  for (const line of lines) {
    if (line.startsWith('m=')) found.push([])
    if (line.startsWith(cryptoPrefix)) found.at(-1)?.push(line.slice(cryptoPrefix.length))
  }
  return found
}

function toSection(
  media: MediaDescription,
  session: SessionDescription,
  addresses: readonly string[],
  keys: readonly string[],
): MediaSection {
  const { rtcp, maxptime } = media
  const profile = profileNamed(String(media.protocol ?? ''))
  const crypto = readCrypto(keys)
  const path = pathOf(media, session)
  const hasRtcpMux = media.rtcpMux !== undefined
  const protection = profile && protectionOf(profile, { hasKey: crypto.usable.length > 0, hasRtcpMux, path })
  return {
    type: String(media.type ?? ''),
    port: Number(media.port ?? 0),
    protocol: String(media.protocol ?? ''),
    profile,
    protection,
    payloads: String(media.payloads ?? ''),
    addresses,
    direction: media.direction ?? session.direction ?? 'sendrecv',
    formats: formatsOf(media),
    maxptime: maxptime === undefined || !(maxptime > 0) ? undefined : maxptime,
    mid: media.mid === undefined ? undefined : String(media.mid),
    rtcp:
      rtcp === undefined
        ? undefined
        : { port: rtcp.port, address: rtcp.address === undefined ? undefined : String(rtcp.address) },
    hasRtcpMux,
    crypto,
    path: protection === 'dtls' ? path : undefined,
  }
}

/** Throws media_not_acceptable if the text is not SDP. */
export function parseSdp(text: string): ParsedSdp {
  if (text.length > maxCharacters) throw refused('the SDP is too long')
  const lines = text.split(/\r\n|\r|\n/)
  if (lines[0]?.startsWith('v=0') !== true) throw refused('the body is not an SDP')
  const kept = lines.filter((line) => line.length <= maxLineCharacters && readLines.test(line))
  if (kept.filter((line) => line.startsWith('m=')).length > maxSections)
    throw refused('the SDP has too many media lines')
  // The parser supports neither a number of ports after a port (RFC 8866 §5.14), which layered video uses, nor
  // several parameters of a key.
  const parsed = kept.filter((line) => !line.startsWith(cryptoPrefix))
  const session = parse(parsed.map((line) => line.replace(/^(m=\S+ \d+)\/\d+/, '$1')).join('\r\n'))
  const [general = [], ...own] = addressesOf(kept)
  const keys = keysOf(kept)
  return {
    sections: session.media.map((media, index) => {
      const addresses = own[index] ?? []
      return toSection(media, session, addresses.length === 0 ? general : addresses, keys[index] ?? [])
    }),
    alternatives: (session.groups ?? []).map(({ mids }) => String(mids).split(' ')),
  }
}

/** Our side of the audio stream. */
export interface LocalAudio {
  readonly formats: readonly CodecFormat[]
  readonly events: readonly EventFormat[]
  /** The length of our packets in ms. */
  readonly ptime: number
  /** The mid of the offer's line, if that was one of several alternatives. */
  readonly mid?: string
  readonly direction: Direction
  readonly hasRtcpMux: boolean
  readonly profile: Profile
  /** Our keys: the ones to choose from in an offer, the chosen one in an answer. */
  readonly crypto: readonly CryptoLine[]
  readonly padsKeys?: boolean | undefined
  /** The place of RTCP, if it is not the port after RTP. */
  readonly rtcp?: Endpoint
  /** The longest packet accepted, in ms, if it is not our usual limit. */
  readonly maxptime?: number
  /** The path of a line whose packets are protected by keys of a handshake. */
  readonly path?: OwnPath | undefined
}

/** A line to write: audio, or a refusal of the far end's line (port 0, RFC 3264 §6). */
export type LocalSection = LocalAudio | { readonly refused: MediaSection }

export interface LocalSdp {
  readonly sessionId: string
  readonly version: number
  /** The address of the origin, which stays when the address of the stream changes: RFC 3264 §8. */
  readonly origin: string
  readonly local: Endpoint
  readonly sections: readonly LocalSection[]
}

// Packets of any length are supported, but longer ones of G.711 would not fit into an Ethernet frame.
const maxPacketMs = 150

function toAudio(audio: LocalAudio, { address, port }: Endpoint): MediaDescription {
  const { rtp, fmtp } = linesOf(audio.formats, audio.events)
  return {
    type: 'audio',
    port,
    protocol: audio.profile,
    payloads: rtp.map((format) => format.payload).join(' '),
    rtp,
    fmtp,
    ptime: audio.ptime,
    maxptime: audio.maxptime ?? maxPacketMs,
    ...(audio.rtcp === undefined
      ? {}
      : { rtcp: { ...audio.rtcp, netType: 'IN', ipVer: ipVersionOf(audio.rtcp) } }),
    ...(audio.mid === undefined ? {} : { mid: audio.mid }),
    direction: audio.direction,
    ...(audio.crypto.length === 0 ? {} : { crypto: audio.crypto.map((line) => toCrypto(line, audio)) }),
    ...(audio.hasRtcpMux ? { rtcpMux: 'rtcp-mux' as const } : {}),
    ...(audio.path === undefined ? {} : toPathLines(audio.path, { address, port })),
  }
}

function toCrypto(
  line: CryptoLine,
  { padsKeys = false }: LocalAudio,
): { id: number; suite: string; config: string } {
  return { id: line.tag, suite: line.name ?? line.suite, config: toInline(line, padsKeys) }
}

function ipVersionOf({ address }: Pick<Endpoint, 'address'>): 4 | 6 {
  return address.includes(':') ? 6 : 4
}

function toRefusal({ type, protocol, payloads }: MediaSection): MediaDescription {
  return { type, port: 0, protocol, payloads, rtp: [], fmtp: [] }
}

/**
 * Returns the groups of an answer. It names the group of alternatives with the one line chosen (RFC 4091 §3.3). A
 * line with a path is a bundle of its own (RFC 8843).
 */
function groupsOf(sections: readonly LocalSection[]): Pick<SessionDescription, 'groups'> {
  const groups = sections.flatMap((section) =>
    'refused' in section || section.mid === undefined
      ? []
      : [{ type: section.path === undefined ? 'ANAT' : 'BUNDLE', mids: section.mid }],
  )
  return groups.length === 0 ? {} : { groups }
}

/** Returns the session-level identity and address, then the lines in order. */
export function writeSdp(sdp: LocalSdp): string {
  return write({
    version: 0,
    origin: {
      username: '-',
      sessionId: sdp.sessionId,
      sessionVersion: sdp.version,
      netType: 'IN',
      ipVer: ipVersionOf({ address: sdp.origin }),
      address: sdp.origin,
    },
    name: '-',
    connection: { version: ipVersionOf(sdp.local), ip: sdp.local.address },
    timing: { start: 0, stop: 0 },
    ...groupsOf(sdp.sections),
    media: sdp.sections.map((section) =>
      'refused' in section ? toRefusal(section.refused) : toAudio(section, sdp.local),
    ),
  })
}
