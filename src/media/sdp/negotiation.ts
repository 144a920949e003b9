// Offer/answer for one leg: RFC 3264, with symmetric hold, telephone-event (RFC 4733) and rtcp-mux (RFC 5761).
import { isIP } from 'node:net'
import type { LocalAddress } from '../../network/local-address.ts'
import { codecs } from '../codecs/codecs.ts'
import type { Encoding } from '../codecs/codecs.ts'
import type { Endpoint } from '../rtp/source.ts'
import {
  addressOf,
  chooseSection,
  codecsOf,
  directionTowards,
  mayReceive,
  maySend,
  numbersOf,
  objectionTo,
  packetMsFor,
  refused,
  remoteOf,
  rtcpOf,
  spokenIn,
  toReceivable,
} from './far-end-section.ts'
import type { Receivable } from './far-end-section.ts'
import { parseSdp, writeSdp } from './sdp.ts'
import type { Direction, LocalAudio, LocalSection, MediaSection } from './sdp.ts'

/** What offer and answer agreed on, as the side that sends packets needs it. */
export interface Agreement {
  readonly encoding: Encoding
  /** Undefined: there is no address to send to (hold in the old way, RFC 2543). */
  readonly remote: Endpoint | undefined
  readonly remoteRtcp: Endpoint | undefined
  /** The place in the SDP when it may be neither sent to nor believed. */
  readonly barred?: Endpoint | undefined
  /** The address that the signalling of the leg is exchanged with. */
  readonly peer: string | undefined
  readonly hasRtcpMux: boolean
  /** Payload types of what we send are the far end's choice: RFC 3264 §5.1. */
  readonly send: { readonly audio: number; readonly event: number | undefined; readonly packetMs: number }
  /** Every format that both sides named, in the numbers of either: far ends switch between them, and use their own. */
  readonly receive: Receivable
  readonly maySend: boolean
  readonly mayReceive: boolean
}

export interface Answered {
  readonly sdp: string
  readonly agreement: Agreement
  /** The far end does not want to hear us. */
  readonly isHeld: boolean
}

function firstOffer(prefers: string | undefined): LocalAudio {
  const formats = codecs.map(({ encoding, payloadType }) => ({ encoding, payloadType }))
  const isPreferred = ({ encoding }: (typeof formats)[number]): boolean => encoding === prefers
  return {
    formats: [...formats.filter(isPreferred), ...formats.filter((format) => !isPreferred(format))],
    eventPayloadType: 101,
    ptime: 20,
    direction: 'sendrecv',
    hasRtcpMux: false,
    protocol: 'RTP/AVP',
  }
}

export interface NegotiationOptions {
  readonly sessionId: string
  readonly port: number
  readonly local: LocalAddress
  /** The encoding that the first offer begins with. */
  readonly prefers?: string | undefined
}

/** The SDP of one leg over its life: remembers what it said last, so that o= changes only when the rest does. */
export class Negotiation {
  readonly #options: NegotiationOptions
  #version = 1
  #origin: string | undefined
  #address: string
  #peer: string | undefined
  #sections: readonly LocalSection[] | undefined
  #last: string | undefined
  #agreement: Agreement | undefined

  constructor(options: NegotiationOptions) {
    this.#options = options
    this.#address = options.local.general
  }

  /** Our address, as the last SDP named it. */
  get address(): string {
    return this.#address
  }

  /** The address that signalling is exchanged with from now on: it says which of our addresses the SDP names. */
  face(peer: string): void {
    this.#peer = peer
  }

  /** Applies the far end's offer. Throws media_not_acceptable and keeps what was agreed before. */
  answer(offer: string): Answered {
    const sdp = parseSdp(offer)
    const chosen = chooseSection(sdp, this.#options.local)
    const { section } = chosen
    const remote = remoteOf(chosen)
    const spoken = spokenIn(section)
    const [format] = spoken
    if (format === undefined) throw refused('the audio stream is offered without PCMU and PCMA')
    const [event] = numbersOf(section, 'TELEPHONE-EVENT')
    const direction = directionTowards(section, remote)
    const isAlternative = sdp.alternatives.some((mids) => mids.includes(section.mid ?? ''))
    const audio: LocalAudio = {
      formats: [format],
      eventPayloadType: event,
      ptime: packetMsFor(section),
      ...(isAlternative && section.mid !== undefined ? { mid: section.mid } : {}),
      direction,
      hasRtcpMux: section.hasRtcpMux,
      protocol: section.protocol,
    }
    this.#address = this.#addressTowards(remote)
    this.#agreement = {
      ...this.#agree({ section, remote, direction, hasRtcpMux: section.hasRtcpMux }),
      encoding: format.encoding,
      send: { audio: format.payloadType, event, packetMs: audio.ptime },
      receive: toReceivable(section, { codecs: spoken, events: [] }),
    }
    const answer = this.#write(sdp.sections.map((one) => (one === section ? audio : { refused: one })))
    return { sdp: answer, agreement: this.#agreement, isHeld: !maySend(direction) }
  }

  offer(): string {
    const running = this.#agreement
    const audio = running === undefined ? firstOffer(this.#options.prefers) : this.#offerOf(running)
    if (running === undefined) {
      // Another far end is asked each time that an offer is made before one has answered: nothing ties it to the last.
      this.#address = this.#addressTowards(undefined)
      this.#origin = undefined
      this.#version = 1
      this.#last = undefined
    }
    // The lines of an offer keep their places for the life of the session: RFC 3264 §8.
    const former = this.#sections
    if (former === undefined) return this.#write([audio])
    return this.#write(former.map((section) => ('refused' in section ? section : audio)))
  }

  /** Applies the answer to `offer()`. Throws media_not_acceptable. */
  acceptAnswer(sdp: string): Answered {
    const { sections } = parseSdp(sdp)
    const offered = this.#offered()
    const section = sections[offered.index]
    const objection =
      section === undefined ? 'the answer lacks our audio line' : objectionTo(section, 'answered')
    if (section === undefined || objection !== undefined) throw refused(objection ?? '')
    const remote = remoteOf({ section, address: addressOf(section, this.#options.local) })
    const { formats } = offered.audio
    const answered = spokenIn(section).filter((one) => isAmong(formats, one))
    const [format] = answered
    if (format === undefined)
      throw refused(`the answer takes none of our codecs; its codecs are: ${codecsOf(section)}`)
    const direction = directionTowards(section, remote)
    const [event] = numbersOf(section, 'TELEPHONE-EVENT')
    const ourEvent = offered.audio.eventPayloadType
    // Several far ends may have been made an offer, each with the address that it can reach; this one has answered.
    if (this.#agreement === undefined) this.#origin = this.#address = this.#addressTowards(undefined)
    this.#agreement = {
      ...this.#agree({
        section,
        remote,
        direction,
        hasRtcpMux: offered.audio.hasRtcpMux && section.hasRtcpMux,
      }),
      encoding: format.encoding,
      send: { audio: format.payloadType, event, packetMs: packetMsFor(section) },
      receive: toReceivable(section, {
        // In our numbers for what the answer kept, as the RFC has it, and in the far end's own.
        codecs: [...formats.filter((ours) => isAmong(answered, ours)), ...answered],
        events: ourEvent === undefined ? [] : [ourEvent],
      }),
    }
    return { sdp, agreement: this.#agreement, isHeld: !maySend(direction) }
  }

  /** What is in use already: our re-offer changes nothing (RFC 3264 §8). */
  #offerOf({ encoding, receive, hasRtcpMux }: Agreement): LocalAudio {
    const { audio } = this.#offered()
    const kept = audio.formats.filter((ours) => isAmong(receive.codecs, ours))
    return {
      formats: kept.toSorted((a, b) => Number(b.encoding === encoding) - Number(a.encoding === encoding)),
      eventPayloadType: audio.eventPayloadType,
      ptime: audio.ptime,
      direction: 'sendrecv',
      hasRtcpMux,
      protocol: 'RTP/AVP',
    }
  }

  #agree({
    section,
    remote,
    direction,
    hasRtcpMux,
  }: Stream): Omit<Agreement, 'encoding' | 'send' | 'receive'> {
    return {
      remote,
      remoteRtcp: hasRtcpMux ? remote : rtcpOf(section, remote),
      peer: this.#peer,
      hasRtcpMux,
      maySend: maySend(direction),
      mayReceive: mayReceive(direction),
    }
  }

  /**
   * Ours as the peer of the signalling sees it, whose address is the one that is certain: that of media may be one of a
   * network behind NAT, which could look like our own network. It says the IP version.
   */
  #addressTowards(remote: Endpoint | undefined): string {
    const { local } = this.#options
    const peer = this.#peer
    if (remote === undefined && this.#agreement !== undefined) return this.#address
    if (peer !== undefined && (remote === undefined || isIP(remote.address) === isIP(peer)))
      return local.towards(peer)
    return remote === undefined ? local.general : local.towards(remote.address)
  }

  #offered(): { index: number; audio: LocalAudio } {
    for (const [index, section] of (this.#sections ?? []).entries()) {
      if (!('refused' in section)) return { index, audio: section }
    }
    throw refused('An answer came, but nothing was offered.')
  }

  #write(sections: readonly LocalSection[]): string {
    const { sessionId, port } = this.#options
    const local = { address: this.#address, port }
    this.#origin ??= local.address
    const origin = this.#origin
    const written = (version: number): string => writeSdp({ sessionId, version, origin, local, sections })
    const hasChanged = this.#last !== undefined && this.#last !== written(this.#version)
    if (hasChanged) this.#version += 1
    this.#sections = sections
    this.#last = written(this.#version)
    return this.#last
  }
}

type Named = Pick<Receivable['codecs'][number], 'encoding'>

function isAmong(formats: readonly Named[], { encoding }: Named): boolean {
  return formats.some((one) => one.encoding === encoding)
}

interface Stream {
  readonly section: MediaSection
  readonly remote: Endpoint | undefined
  readonly direction: Direction
  readonly hasRtcpMux: boolean
}
