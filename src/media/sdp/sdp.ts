// SDP text in and out (RFC 8866), bounded: only the lines that offer/answer reads are given to the parser.
import { parse, write } from 'sdp-transform'
import type { MediaDescription, SessionDescription } from 'sdp-transform'
import { AppError } from '../../lib/errors.ts'
import type { Law } from '../codecs/g711.ts'
import type { Endpoint } from '../rtp/source.ts'

export type Direction = 'sendrecv' | 'sendonly' | 'recvonly' | 'inactive'

/** One format of an m= line: payload type and what it stands for. */
export interface Format {
  readonly payloadType: number
  readonly encoding: string
  readonly rate: number
}

/** One m= line as the far end wrote it, session-level defaults applied. */
export interface MediaSection {
  readonly type: string
  readonly port: number
  readonly protocol: string
  readonly payloads: string
  /** Undefined when the line names no IP address. `0.0.0.0` and `::` are kept: they mean hold. */
  readonly address: string | undefined
  readonly direction: Direction
  readonly formats: readonly Format[]
  readonly rtcp: { readonly port: number; readonly address: string | undefined } | undefined
  readonly hasRtcpMux: boolean
}

// SDPs of browsers with every codec and candidate stay under 16 kB; phones send less than 2 kB.
const mostCharacters = 32_768
const mostLineCharacters = 1024
const mostSections = 16
// An attribute that is not listed never reaches the parser's patterns.
const readLines = /^(?:[vosctm]=|a=(?:rtpmap:|rtcp:|rtcp-mux$|sendrecv$|sendonly$|recvonly$|inactive$))/

// Payload types with a fixed meaning that need no rtpmap: RFC 3551 §6 table 4.
const staticFormats: Readonly<Record<number, Format>> = {
  0: { payloadType: 0, encoding: 'PCMU', rate: 8000 },
  8: { payloadType: 8, encoding: 'PCMA', rate: 8000 },
}

function refused(message: string): AppError {
  return new AppError('media_not_acceptable', message)
}

function formatsOf(media: MediaDescription): Format[] {
  const formats: Format[] = []
  for (const word of String(media.payloads ?? '').split(' ')) {
    if (!/^\d{1,3}$/.test(word) || Number(word) > 127) continue
    const payloadType = Number(word)
    const mapped = media.rtp.find((map) => map.payload === payloadType)
    const format =
      mapped === undefined
        ? staticFormats[payloadType]
        : { payloadType, encoding: String(mapped.codec).toUpperCase(), rate: mapped.rate ?? 0 }
    if (format !== undefined) formats.push(format)
  }
  return formats
}

function toSection(media: MediaDescription, session: SessionDescription): MediaSection {
  const connection = media.connection ?? session.connection
  const address = connection === undefined ? undefined : String(connection.ip)
  const { rtcp } = media
  return {
    type: String(media.type ?? ''),
    port: Number(media.port ?? 0),
    protocol: String(media.protocol ?? ''),
    payloads: String(media.payloads ?? ''),
    address,
    direction: media.direction ?? session.direction ?? 'sendrecv',
    formats: formatsOf(media),
    rtcp:
      rtcp === undefined
        ? undefined
        : { port: rtcp.port, address: rtcp.address === undefined ? undefined : String(rtcp.address) },
    hasRtcpMux: media.rtcpMux !== undefined,
  }
}

/** The m= lines of an SDP. Throws media_not_acceptable when the text is not one. */
export function parseSdp(text: string): MediaSection[] {
  if (text.length > mostCharacters) throw refused('The SDP is too long.')
  const lines = text.split(/\r\n|\r|\n/)
  if (lines[0]?.startsWith('v=0') !== true) throw refused('The body is not an SDP.')
  const kept = lines.filter((line) => line.length <= mostLineCharacters && readLines.test(line))
  if (kept.filter((line) => line.startsWith('m=')).length > mostSections)
    throw refused('The SDP has too many media lines.')
  // The parser does not know the count of ports behind a port (RFC 8866 §5.14), which layered video uses.
  const session = parse(kept.map((line) => line.replace(/^(m=\S+ \d+)\/\d+/, '$1')).join('\r\n'))
  return session.media.map((media) => toSection(media, session))
}

/** Our side of the audio stream. */
export interface LocalAudio {
  readonly formats: readonly { readonly law: Law; readonly payloadType: number }[]
  readonly eventPayloadType: number | undefined
  readonly direction: Direction
  readonly hasRtcpMux: boolean
  readonly protocol: string
}

/** A line of ours: audio, or a refusal of the far end's line (port 0, RFC 3264 §6). */
export type LocalSection = LocalAudio | { readonly refused: MediaSection }

export interface LocalSdp {
  readonly sessionId: string
  readonly version: number
  readonly local: Endpoint
  readonly sections: readonly LocalSection[]
}

function toAudio(audio: LocalAudio, port: number): MediaDescription {
  const { formats, eventPayloadType } = audio
  const rtp = formats.map(({ law, payloadType }) => ({ payload: payloadType, codec: law, rate: 8000 }))
  const fmtp: MediaDescription['fmtp'] = []
  if (eventPayloadType !== undefined) {
    rtp.push({ payload: eventPayloadType, codec: 'telephone-event' as Law, rate: 8000 })
    fmtp.push({ payload: eventPayloadType, config: '0-15' })
  }
  return {
    type: 'audio',
    port,
    protocol: audio.protocol,
    payloads: rtp.map((format) => format.payload).join(' '),
    rtp,
    fmtp,
    ptime: 20,
    direction: audio.direction,
    ...(audio.hasRtcpMux ? { rtcpMux: 'rtcp-mux' as const } : {}),
  }
}

function toRefusal({ type, protocol, payloads }: MediaSection): MediaDescription {
  return { type, port: 0, protocol, payloads, rtp: [], fmtp: [] }
}

/** The session-level identity and address, then the lines in their order. */
export function writeSdp(sdp: LocalSdp): string {
  const ipVer = sdp.local.address.includes(':') ? 6 : 4
  return write({
    version: 0,
    origin: {
      username: '-',
      sessionId: sdp.sessionId,
      sessionVersion: sdp.version,
      netType: 'IN',
      ipVer,
      address: sdp.local.address,
    },
    name: '-',
    connection: { version: ipVer, ip: sdp.local.address },
    timing: { start: 0, stop: 0 },
    media: sdp.sections.map((section) =>
      'refused' in section ? toRefusal(section.refused) : toAudio(section, sdp.local.port),
    ),
  })
}
