// Offer/answer for one leg: RFC 3264, with symmetric hold, telephone-event (RFC 4733) and rtcp-mux (RFC 5761).
import { isIP } from 'node:net'
import type { LocalAddress } from '../../network/local-address.ts'
import type { Encoding } from '../codecs/codecs.ts'
import type { Endpoint } from '../rtp/source.ts'
import type { FarSide } from '../browsers/messages.ts'
import {
  addressOf,
  chooseSection,
  codecsOf,
  directionTowards,
  eventsOf,
  maySend,
  objectionTo,
  packetMsFor,
  refused,
  unencrypted,
  remoteOf,
  spokenIn,
  toReceivable,
} from './far-end-section.ts'
import { agree } from './agree.ts'
import type { Agreement } from './agreement.ts'
import { audioAt, unchangedCodec, placeOf } from './far-place.ts'
import type { FarPlace } from './far-place.ts'
import { eventFor } from './formats.ts'
import { KeyExchange } from './key-exchange.ts'
import type { LocalKeys, OfferedProtection } from './key-exchange.ts'
import type { OwnPath } from './path-lines.ts'
import { firstOffer, isAmong, muxes, nextOffer } from './own-offer.ts'
import { parseSdp, writeSdp } from './sdp.ts'
import type { LocalAudio, LocalSection } from './sdp.ts'

export interface Answered {
  readonly sdp: string
  readonly agreement: Agreement
  /** The far end does not want to hear us. */
  readonly isHeld: boolean
  /** It sends to the other far end that our SDP has named, and not to us. */
  readonly isPast: boolean
  /** The far end's side of the path, where packets take one. */
  readonly path: FarSide | undefined
}

/** Our line, with the place of another far end in it. */
interface Past {
  readonly audio: LocalAudio
  readonly at: Endpoint
}

export interface NegotiationOptions {
  readonly sessionId: string
  readonly port: number
  readonly local: LocalAddress
  /** The encoding that the first offer begins with. */
  readonly prefers?: string | undefined
  /** The encodings that the first offer may name; all when left out. */
  readonly offers?: readonly Encoding[] | undefined
}

/** The SDP of one leg over its life: remembers what it said last, so that o= changes only when the rest does. */
export class Negotiation {
  readonly #options: NegotiationOptions
  readonly #keys = new KeyExchange()
  #version = 1
  #origin: string | undefined
  #address: string
  #peer: string | undefined
  /** Which offer, where several places are made one: those of several may be behind one address. */
  #branch: number | undefined
  #sections: readonly LocalSection[] | undefined
  #last: string | undefined
  #agreement: Agreement | undefined
  /** What the last exchange has agreed on; and what an offer says that is not answered yet. */
  #past: Past | undefined
  #offeredPast: Past | undefined

  constructor(options: NegotiationOptions) {
    this.#options = options
    this.#address = options.local.general
  }

  /** Our address, as the last SDP named it. */
  get address(): string {
    return this.#address
  }

  /** Where the far end takes its stream now. */
  get place(): FarPlace | undefined {
    // A browser takes packets of its path only.
    return this.#keys.isOnPath ? undefined : this.#agreement && placeOf(this.#agreement)
  }

  /** The address that signalling is exchanged with from now on: it says which of our addresses the SDP names. */
  face(peer: string, branch?: number): void {
    this.#peer = peer
    this.#branch = branch
  }

  /** The far end's side of the path that its offer wants; undefined for none. Throws media_not_acceptable. */
  offeredPath(offer: string): FarSide | undefined {
    return chooseSection(parseSdp(offer), this.#options.local).section.path
  }

  /** Applies the far end's offer. `path`: our side of its path. Throws media_not_acceptable and keeps what was agreed before. */
  answer(offer: string, path?: OwnPath): Answered {
    const sdp = parseSdp(offer)
    const chosen = chooseSection(sdp, this.#options.local)
    const { section } = chosen
    const remote = remoteOf(chosen)
    const spoken = spokenIn(section)
    // A phone that holds the call offers all that it speaks once more, the best first: what is spoken stays where it can. A change would
    // restart the stream of some phones, and have two sides of one codec decoded and coded.
    const format = spoken.find(({ encoding }) => encoding === this.#agreement?.encoding) ?? spoken[0]
    if (format === undefined) throw objectionTo(section, 'offered') ?? refused('')
    const event = eventFor(format.encoding, eventsOf(section))
    const direction = directionTowards(section, remote)
    const lines = (audio: LocalAudio): readonly LocalSection[] =>
      sdp.sections.map((one) => (one === section ? audio : { refused: one }))
    const still = this.#past && unchangedCodec({ spoken, remote, direction }, this.#agreement)
    if (this.#past !== undefined && this.#agreement !== undefined && still !== undefined) {
      const { audio, at } = this.#past
      const again = { ...audio, formats: [still], events: audio.events.length > 0 && event ? [event] : [] }
      const sdpAgain = this.#text(lines(again), at)
      return { sdp: sdpAgain, agreement: this.#agreement, isHeld: false, isPast: true, path: undefined }
    }
    const keys = this.#keys.answer(section, path)
    const isAlternative = sdp.alternatives.some((mids) => mids.includes(section.mid ?? ''))
    const audio: LocalAudio = {
      formats: [format],
      events: event === undefined ? [] : [event],
      ptime: packetMsFor(section, format.encoding),
      ...(isAlternative && section.mid !== undefined ? { mid: section.mid } : {}),
      direction,
      hasRtcpMux: section.hasRtcpMux,
      ...keys.local,
    }
    this.#address = this.#addressTowards(remote)
    this.#agreement = agree({
      section,
      remote,
      direction,
      hasRtcpMux: section.hasRtcpMux,
      protection: keys.protection,
      peer: this.#peer,
      format,
      packetMs: audio.ptime,
      receive: toReceivable(section, { codecs: spoken, events: [] }),
    })
    this.#past = undefined
    this.#keys.agreed(keys.protection, keys.local, section.path?.ice !== undefined)
    const answer = this.#write(lines(audio))
    const isHeld = !maySend(direction)
    return { sdp: answer, agreement: this.#agreement, isHeld, isPast: false, path: section.path }
  }

  /** `only`: the one codec to go on with. `protection`: how a far end that has said nothing yet is offered the stream; `path`:
   *  our side of one, for a handshake. */
  offer({
    only,
    protection,
    path,
  }: {
    only?: Encoding | undefined
    protection?: OfferedProtection | undefined
    path?: OwnPath | undefined
  } = {}): string {
    const running = this.#agreement
    const audio =
      running === undefined
        ? firstOffer(this.#options, this.#keysFor(protection, path))
        : nextOffer(this.#offered().audio, running, { only, keys: this.#keys.offerAgain() })
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

  /** An offer within the call that names the place of another far end, so that the two send to each other. */
  offerPast(place: FarPlace): string {
    const far = this.place
    if (far === undefined) throw refused('the far end takes no stream')
    const audio = audioAt(place, far)
    this.#offeredPast = { audio, at: { address: place.address, port: place.port } }
    const lines = (this.#sections ?? []).map((section) => ('refused' in section ? section : audio))
    return this.#text(lines, this.#offeredPast.at)
  }

  /** Applies the answer to the last offer. Throws media_not_acceptable. */
  acceptAnswer(sdp: string): Answered {
    const { sections } = parseSdp(sdp)
    const offered = this.#offered()
    const section = sections[offered.index]
    if (section === undefined) throw refused('the answer lacks our audio line')
    const objection = objectionTo(section, 'answered')
    if (objection !== undefined) throw objection
    const remote = remoteOf({ section, address: addressOf(section, this.#options.local) })
    const ours = this.#offeredPast?.audio ?? offered.audio
    // Not the last offer, where several places were made one: that of the place which has answered.
    const first = this.#keys.offeredTo(this.#place)
    const ownKeys = first ?? ours
    const hasRtcpMux = first === undefined || this.#offeredPast !== undefined ? ours.hasRtcpMux : muxes(first)
    const protection = this.#keys.accept(section, ownKeys)
    if (typeof protection === 'string') throw unencrypted(protection)
    const { formats } = ours
    const answered = spokenIn(section).filter((one) => isAmong(formats, one))
    const [format] = answered
    if (format === undefined)
      throw refused(`the answer takes none of our codecs; its codecs are: ${codecsOf(section)}`)
    const direction = directionTowards(section, remote)
    // Several far ends may have been made an offer, each with the address that it can reach; this one has answered.
    if (this.#agreement === undefined) this.#origin = this.#address = this.#addressTowards(undefined)
    this.#agreement = agree({
      section,
      remote,
      direction,
      hasRtcpMux: hasRtcpMux && section.hasRtcpMux,
      protection,
      peer: this.#peer,
      format,
      packetMs: packetMsFor(section, format.encoding),
      receive: toReceivable(section, {
        // In our numbers for what the answer kept, as the RFC has it, and in the far end's own.
        codecs: [...formats.filter((one) => isAmong(answered, one)), ...answered],
        events: ours.events,
      }),
    })
    this.#keys.agreed(protection, ownKeys, section.path?.ice !== undefined)
    this.#past = this.#offeredPast
    this.#offeredPast = undefined
    const isPast = this.#past !== undefined
    return { sdp, agreement: this.#agreement, isHeld: !maySend(direction), isPast, path: section.path }
  }

  /** What an offer is remembered by. */
  get #place(): string {
    return `${this.#peer ?? ''} ${this.#branch ?? ''}`
  }

  #keysFor(protection: OfferedProtection | undefined, path: OwnPath | undefined): LocalKeys {
    const keys = protection !== undefined && 'sdes' in protection ? protection : undefined
    return this.#keys.offerTo(this.#place, keys, path)
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

  /** With our own place in it. */
  #write(sections: readonly LocalSection[]): string {
    this.#sections = sections
    this.#offeredPast = undefined
    return this.#text(sections, { address: this.#address, port: portOf(sections) ?? this.#options.port })
  }

  #text(sections: readonly LocalSection[], local: Endpoint): string {
    const { sessionId } = this.#options
    this.#origin ??= local.address
    const origin = this.#origin
    const written = (version: number): string => writeSdp({ sessionId, version, origin, local, sections })
    const hasChanged = this.#last !== undefined && this.#last !== written(this.#version)
    if (hasChanged) this.#version += 1
    this.#last = written(this.#version)
    return this.#last
  }
}

/** That of the path, where the line names no other. */
function portOf(sections: readonly LocalSection[]): number | undefined {
  const [path] = sections.flatMap((one) => ('refused' in one ? [] : [one.path]))
  return path?.ice === 'alone' ? path.port : undefined
}
