// Offer/answer for one leg: RFC 3264, with symmetric hold, telephone-event (RFC 4733) and rtcp-mux (RFC 5761).
import { isIP } from 'node:net'
import { AppError } from '../../lib/errors.ts'
import type { Law } from '../codecs/g711.ts'
import type { Endpoint } from '../rtp/source.ts'
import { parseSdp, writeSdp } from './sdp.ts'
import type { Direction, Format, LocalAudio, LocalSection, MediaSection } from './sdp.ts'

/** What offer and answer agreed on, in the words of whoever sends the packets. */
export interface Agreement {
  readonly law: Law
  /** Undefined: there is no address to send to (hold in the old way, RFC 2543). */
  readonly remote: Endpoint | undefined
  readonly remoteRtcp: Endpoint | undefined
  readonly hasRtcpMux: boolean
  /** Payload types of what we send are the far end's choice, those of what we receive are ours: RFC 3264 §5.1. */
  readonly send: { readonly audio: number; readonly event: number | undefined }
  readonly receive: { readonly audio: number; readonly event: number | undefined }
  readonly maySend: boolean
  readonly mayReceive: boolean
}

export interface Answered {
  readonly sdp: string
  readonly agreement: Agreement
  /** The far end does not want to hear us. */
  readonly isHeld: boolean
}

const ourPayloadTypes: Readonly<Record<Law, number>> = { PCMU: 0, PCMA: 8 }
const ourEventPayloadType = 101
const plainProfiles = ['RTP/AVP', 'RTP/AVPF']

function refused(message: string): AppError {
  return new AppError('media_not_acceptable', message)
}

function lawOf(format: Format): Law | undefined {
  const { encoding, rate } = format
  return rate === 8000 && (encoding === 'PCMU' || encoding === 'PCMA') ? encoding : undefined
}

function eventOf(section: MediaSection): number | undefined {
  return section.formats.find(({ encoding, rate }) => encoding === 'TELEPHONE-EVENT' && rate === 8000)
    ?.payloadType
}

function preferredOf(section: MediaSection): { law: Law; payloadType: number } | undefined {
  for (const format of section.formats) {
    const law = lawOf(format)
    if (law !== undefined) return { law, payloadType: format.payloadType }
  }
  return undefined
}

/** Why this line cannot be our stream; undefined when it can. */
function objectionTo(section: MediaSection): string | undefined {
  if (section.type !== 'audio' || section.port === 0) return 'The SDP offers no audio stream.'
  if (section.port > 65_535) return 'The audio port of the SDP is out of range.'
  if (!plainProfiles.includes(section.protocol))
    return 'The audio stream is offered over another profile than RTP/AVP.'
  if (preferredOf(section) === undefined) return 'The audio stream is offered without PCMU and PCMA.'
  return undefined
}

/** The first audio line that fits; the objection to the audio lines, or to having none, otherwise. */
function chooseSection(sections: readonly MediaSection[]): MediaSection {
  const chosen = sections.find((section) => objectionTo(section) === undefined)
  if (chosen !== undefined) return chosen
  const audio = sections.find((section) => section.type === 'audio' && section.port !== 0)
  throw refused((audio && objectionTo(audio)) ?? 'The SDP offers no audio stream.')
}

function isUnspecified(address: string): boolean {
  return /^[0:.]+$/.test(address)
}

function isMulticast(address: string): boolean {
  if (address.includes(':')) return /^ff/i.test(address)
  return Number(address.split('.', 1)[0]) >= 224
}

/** Where the far end wants its media. Undefined for the hold of RFC 2543, an unspecified address. */
function remoteOf(section: MediaSection, localAddress: string): Endpoint | undefined {
  const { address, port } = section
  if (address === undefined || isIP(address) === 0)
    throw refused('The connection line of the SDP names no IP address.')
  if (isUnspecified(address)) return undefined
  if (isIP(address) !== isIP(localAddress))
    throw refused(
      `The SDP offers IPv${isIP(address)} media, and this platform is reached over IPv${isIP(localAddress)}.`,
    )
  if (isMulticast(address)) throw refused('The connection line of the SDP is not a unicast address.')
  return { address, port }
}

function rtcpOf(section: MediaSection, remote: Endpoint | undefined): Endpoint | undefined {
  if (remote === undefined) return undefined
  const { rtcp } = section
  if (rtcp === undefined) return { address: remote.address, port: Math.min(remote.port + 1, 65_535) }
  const { address } = rtcp
  const isUsable = address !== undefined && isIP(address) === isIP(remote.address) && !isMulticast(address)
  const port = rtcp.port > 0 && rtcp.port <= 65_535 ? rtcp.port : remote.port + 1
  return { address: isUsable ? address : remote.address, port }
}

const mirrored: Readonly<Record<Direction, Direction>> = {
  sendrecv: 'sendrecv',
  sendonly: 'recvonly',
  recvonly: 'sendonly',
  inactive: 'inactive',
}

/** Our direction against the far end's: what it does not want, or cannot be given, is left out. */
function directionTowards(section: MediaSection, remote: Endpoint | undefined): Direction {
  const direction = mirrored[section.direction]
  if (remote !== undefined) return direction
  return direction === 'sendrecv' ? 'recvonly' : direction === 'sendonly' ? 'inactive' : direction
}

function maySend(direction: Direction): boolean {
  return direction === 'sendrecv' || direction === 'sendonly'
}

function mayReceive(direction: Direction): boolean {
  return direction === 'sendrecv' || direction === 'recvonly'
}

/** The SDP of one leg over its life: remembers what it said last, so that o= changes only when the rest does. */
export class Negotiation {
  readonly #sessionId: string
  readonly #local: Endpoint
  #version = 1
  #sections: readonly LocalSection[] | undefined
  #agreement: Agreement | undefined

  constructor(sessionId: string, local: Endpoint) {
    this.#sessionId = sessionId
    this.#local = local
  }

  /** Applies the far end's offer. Throws media_not_acceptable and keeps what was agreed before. */
  answer(offer: string): Answered {
    const sections = parseSdp(offer)
    const chosen = chooseSection(sections)
    const remote = remoteOf(chosen, this.#local.address)
    const format = preferredOf(chosen)
    if (format === undefined) throw refused('The audio stream is offered without PCMU and PCMA.')
    const event = eventOf(chosen)
    const direction = directionTowards(chosen, remote)
    const audio: LocalAudio = {
      formats: [format],
      eventPayloadType: event,
      direction,
      hasRtcpMux: chosen.hasRtcpMux,
      protocol: chosen.protocol,
    }
    const payloadTypes = { audio: format.payloadType, event }
    this.#agreement = {
      law: format.law,
      remote,
      remoteRtcp: chosen.hasRtcpMux ? remote : rtcpOf(chosen, remote),
      hasRtcpMux: chosen.hasRtcpMux,
      send: payloadTypes,
      receive: payloadTypes,
      maySend: maySend(direction),
      mayReceive: mayReceive(direction),
    }
    const sdp = this.#write(sections.map((section) => (section === chosen ? audio : { refused: section })))
    return { sdp, agreement: this.#agreement, isHeld: !maySend(direction) }
  }

  /** Both laws, or what is in use already: a re-offer of ours changes nothing (RFC 3264 §8). */
  offer(): string {
    const running = this.#agreement
    const formats =
      running === undefined
        ? (['PCMU', 'PCMA'] as const).map((law) => ({ law, payloadType: ourPayloadTypes[law] }))
        : [{ law: running.law, payloadType: running.receive.audio }]
    const audio: LocalAudio = {
      formats,
      eventPayloadType: running === undefined ? ourEventPayloadType : running.receive.event,
      direction: 'sendrecv',
      hasRtcpMux: running?.hasRtcpMux ?? false,
      protocol: 'RTP/AVP',
    }
    // The lines of an offer keep their places for the life of the session: RFC 3264 §8.
    const former = this.#sections
    if (former === undefined) return this.#write([audio])
    return this.#write(former.map((section) => ('refused' in section ? section : audio)))
  }

  /** Applies the answer to `offer()`. Throws media_not_acceptable. */
  acceptAnswer(sdp: string): Answered {
    const sections = parseSdp(sdp)
    const offered = this.#offered()
    const section = sections[offered.index]
    const objection = section === undefined ? 'The answer lacks our audio line.' : objectionTo(section)
    if (section === undefined || objection !== undefined) throw refused(objection ?? '')
    const remote = remoteOf(section, this.#local.address)
    const format = preferredOf(section)
    const ours = offered.audio.formats.find(({ law }) => law === format?.law)
    if (format === undefined || ours === undefined) throw refused('The answer takes none of our codecs.')
    const direction = directionTowards(section, remote)
    const hasRtcpMux = offered.audio.hasRtcpMux && section.hasRtcpMux
    const event = eventOf(section)
    this.#agreement = {
      law: format.law,
      remote,
      remoteRtcp: hasRtcpMux ? remote : rtcpOf(section, remote),
      hasRtcpMux,
      send: { audio: format.payloadType, event },
      receive: { audio: ours.payloadType, event: offered.audio.eventPayloadType },
      maySend: maySend(direction),
      mayReceive: mayReceive(direction),
    }
    return { sdp, agreement: this.#agreement, isHeld: !maySend(direction) }
  }

  #offered(): { index: number; audio: LocalAudio } {
    for (const [index, section] of (this.#sections ?? []).entries()) {
      if (!('refused' in section)) return { index, audio: section }
    }
    throw refused('An answer came, but nothing was offered.')
  }

  #write(sections: readonly LocalSection[]): string {
    const sdpOf = (version: number, lines: readonly LocalSection[]): string =>
      writeSdp({ sessionId: this.#sessionId, version, local: this.#local, sections: lines })
    const hasChanged =
      this.#sections !== undefined && sdpOf(this.#version, this.#sections) !== sdpOf(this.#version, sections)
    if (hasChanged) this.#version += 1
    this.#sections = sections
    return sdpOf(this.#version, sections)
  }
}
