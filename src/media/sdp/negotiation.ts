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
  endsAudio,
  eventsOf,
  maySend,
  objectionTo,
  packetMsFor,
  refused,
  unencrypted,
  remoteOf,
  spokenIn,
  toReceivable,
  withoutPath,
} from './far-end-section.ts'
import { agree } from './agree.ts'
import type { Agreement } from './agreement.ts'
import { audioAt, unchangedCodec, placeOf, type FarPlace } from './far-place.ts'
import { eventFor } from './formats.ts'
import { KeyExchange, type LocalKeys, type OfferedProtection } from './key-exchange.ts'
import type { OwnPath } from './path-lines.ts'
import { firstOffer, isAmong, muxes, nextOffer } from './own-offer.ts'
import { parseSdp, writeSdp, type LocalAudio, type LocalSection, type ParsedSdp } from './sdp.ts'

export interface Answered {
  readonly sdp: string
  readonly agreement: Agreement
  /** Whether the far end does not want to receive our stream. */
  readonly isHeld: boolean
  /** Whether it sends to the other far end that our SDP named, instead of to us. */
  readonly isPast: boolean
  /** The far end's side of the path, if packets use one. */
  readonly path: FarSide | undefined
}

/** Our media line with the place of another far end in it. */
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
  /** The encodings that the first offer may name; all if left out. */
  readonly offers?: readonly Encoding[] | undefined
}

/** The SDP of one leg over its life. Keeps the last text, so that the version in o= changes only if the rest does. */
export class Negotiation {
  readonly #options: NegotiationOptions
  readonly #keys = new KeyExchange()
  #version = 1
  #origin: string | undefined
  #address: string
  #peer: string | undefined
  /** The branch of the present offer, if several places are each made one: several may be behind one address. */
  #branch: number | undefined
  #sections: readonly LocalSection[] | undefined
  #last: string | undefined
  #agreement: Agreement | undefined
  /** Whether the agreement may still be replaced by that of another place that was made an offer. */
  #isEarly = false
  /** The state of going past us: as agreed in the last exchange, and as offered without an answer yet. */
  #past: Past | undefined
  #offeredPast: Past | undefined
  /** The lines before our last offer within the call, until it is answered. */
  #before: readonly LocalSection[] | undefined

  constructor(options: NegotiationOptions) {
    this.#options = options
    this.#address = options.local.general
  }

  /** Our address in the last SDP. */
  get address(): string {
    return this.#address
  }

  /** The place where the far end receives its stream now. */
  get place(): FarPlace | undefined {
    // A browser receives packets only over its path.
    return this.#keys.isOnPath ? undefined : this.#agreement && placeOf(this.#agreement)
  }

  /** Sets the address that signalling is exchanged with. It decides which of our addresses the SDP names. */
  face(peer: string, branch?: number): void {
    this.#peer = peer
    this.#branch = branch
  }

  /** Returns the far end's side of the path in its offer; undefined if there is none. Throws media_not_acceptable. */
  offeredPath(offer: string): FarSide | undefined {
    const sdp = parseSdp(offer)
    if (this.#agreement !== undefined && endsAudio(sdp)) return undefined
    return chooseSection(sdp, this.#options.local).section.path
  }

  /** Applies an offer; `path` is our side of its path. Throws media_not_acceptable and keeps the former agreement. */
  answer(offer: string, path?: OwnPath): Answered {
    const sdp = parseSdp(offer)
    if (this.#agreement !== undefined && endsAudio(sdp)) return this.#answerEnd(sdp, this.#agreement)
    const chosen = chooseSection(sdp, this.#options.local)
    const { section } = chosen
    const remote = remoteOf(chosen)
    const spoken = spokenIn(section)
    // A phone that holds the call offers all its codecs again, the best first. The present codec is kept if possible:
    // a change would restart the stream of some phones, and two sides with one codec would need transcoding.
    const format = spoken.find(({ encoding }) => encoding === this.#agreement?.encoding) ?? spoken[0]
    if (format === undefined) throw objectionTo(section, 'offered') ?? refused('')
    const event = eventFor(format.encoding, eventsOf(section, format.encoding))
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
    if (remote !== undefined || this.#agreement === undefined) this.#address = this.#addressTowards(remote)
    this.#isEarly = false
    this.#agreement = agree({
      section,
      remote,
      direction,
      hasRtcpMux: section.hasRtcpMux,
      protection: keys.protection,
      peer: this.#peer,
      format,
      packetMs: audio.ptime,
      receive: toReceivable(section, { codecs: spoken, events: [], beside: format.encoding }),
    })
    this.#past = undefined
    this.#keys.agreed(keys.protection, keys.local, section.path?.ice !== undefined)
    const answer = this.#write(lines(audio))
    const isHeld = !maySend(direction)
    return { sdp: answer, agreement: this.#agreement, isHeld, isPast: false, path: section.path }
  }

  /**
   * Answers an offer within the call that ends the stream: its line is refused as well (RFC 3264 §8.2), and the call
   * goes on without sound until another offer has a port.
   */
  #answerEnd({ sections }: ParsedSdp, former: Agreement): Answered {
    const agreement = {
      ...former,
      remote: undefined,
      remoteRtcp: undefined,
      maySend: false,
      mayReceive: false,
    }
    this.#agreement = agreement
    this.#past = undefined
    const sdp = this.#write(sections.map((one) => ({ refused: one })))
    return { sdp, agreement, isHeld: true, isPast: false, path: undefined }
  }

  /**
   * Returns an offer. `only` is the one codec to continue with. `protection` is for a far end that has not answered
   * yet, and `path` is our side of a path for a handshake.
   */
  offer({
    only,
    protection,
    path,
  }: {
    only?: Encoding | undefined
    protection?: OfferedProtection | undefined
    path?: OwnPath | undefined
  } = {}): string {
    const running = this.#isEarly ? undefined : this.#agreement
    const former = this.#sections
    // The far end has ended its stream; only it may begin one again.
    if (former?.every((section) => 'refused' in section) === true) return this.#write(former)
    const audio =
      running === undefined
        ? firstOffer(this.#options, this.#keysFor(protection, path))
        : nextOffer(this.#offered().audio, running, { only, keys: this.#keys.offerAgain() })
    if (running === undefined) {
      // Each offer before the first answer is for another far end, so nothing carries over from the last one.
      this.#address = this.#addressTowards(undefined)
      this.#origin = undefined
      this.#version = 1
      this.#last = undefined
    }
    // The lines of an offer keep their order for the life of the session: RFC 3264 §8.
    if (former === undefined) return this.#write([audio])
    const before = this.#before ?? former
    const sdp = this.#write(former.map((section) => ('refused' in section ? section : audio)))
    if (running !== undefined) this.#before = before
    return sdp
  }

  /** Forgets an offer within the call that was refused. A later answer is to the description before it. */
  withdraw(): void {
    this.#offeredPast = undefined
    this.#sections = this.#before ?? this.#sections
    this.#before = undefined
  }

  /** Returns an offer within the call that names the place of another far end, so that the two send to each other. */
  offerPast(place: FarPlace): string {
    const far = this.place
    if (far === undefined) throw refused('the far end takes no stream')
    const audio = audioAt(place, far)
    this.#offeredPast = { audio, at: { address: place.address, port: place.port } }
    const lines = (this.#sections ?? []).map((section) => ('refused' in section ? section : audio))
    return this.#text(lines, this.#offeredPast.at)
  }

  /** Notes that the answer that was applied early is the one that counts. */
  settle(): void {
    this.#isEarly = false
  }

  /**
   * Applies the answer to the last offer, or to one of the first offers to several places. After an early one, another
   * may come. Throws media_not_acceptable.
   */
  acceptAnswer(sdp: string, isEarly = false): Answered {
    const { sections } = parseSdp(sdp)
    if (this.#agreement !== undefined && this.#sections?.every((one) => 'refused' in one) === true)
      return { sdp, agreement: this.#agreement, isHeld: true, isPast: false, path: undefined }
    const offered = this.#offered()
    const line = sections[offered.index]
    if (line === undefined) throw refused('the answer lacks our audio line')
    const ours = this.#offeredPast?.audio ?? offered.audio
    // If several places were each made an offer, this is the one of the place that answered, not the last one.
    const first = this.#keys.offeredTo(this.#place)
    const ownKeys = first ?? ours
    const section = ownKeys.path === undefined ? withoutPath(line) : line
    const objection = objectionTo(section, 'answered')
    if (objection !== undefined) throw objection
    const remote = remoteOf({ section, address: addressOf(section, this.#options.local) })
    const hasRtcpMux = first === undefined || this.#offeredPast !== undefined ? ours.hasRtcpMux : muxes(first)
    const protection = this.#keys.accept(section, ownKeys)
    if (typeof protection === 'string') throw unencrypted(protection)
    const { formats } = ours
    const answered = spokenIn(section).filter((one) => isAmong(formats, one))
    const [format] = answered
    if (format === undefined)
      throw refused(`the answer takes none of our codecs; its codecs are: ${codecsOf(section)}`)
    const direction = directionTowards(section, remote)
    // Several far ends may have been made an offer, each with the address that it can reach. The answer decides the
    // address.
    if (this.#agreement === undefined || this.#isEarly)
      this.#origin = this.#address = this.#addressTowards(undefined)
    this.#isEarly = isEarly
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
        // Our numbers for the codecs that the answer kept, as the RFC demands, and the far end's own numbers.
        codecs: [...formats.filter((one) => isAmong(answered, one)), ...answered],
        events: ours.events,
        beside: format.encoding,
      }),
    })
    this.#keys.agreed(protection, ownKeys, section.path?.ice !== undefined)
    this.#past = this.#offeredPast
    this.#offeredPast = this.#before = undefined
    const isPast = this.#past !== undefined
    return { sdp, agreement: this.#agreement, isHeld: !maySend(direction), isPast, path: section.path }
  }

  /** The key under which an offer is stored. */
  get #place(): string {
    return `${this.#peer ?? ''} ${this.#branch ?? ''}`
  }

  #keysFor(protection: OfferedProtection | undefined, path: OwnPath | undefined): LocalKeys {
    const keys = protection !== undefined && 'sdes' in protection ? protection : undefined
    return this.#keys.offerTo(this.#place, keys, path)
  }

  /**
   * Returns our address as seen by the peer of signalling. Only that peer's address is certain: the address of media
   * may be in a network behind NAT that looks like our own network. It does decide the IP version.
   */
  #addressTowards(remote: Endpoint | undefined): string {
    const { local } = this.#options
    const peer = this.#peer
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

  /** Returns the SDP with our own place in it. */
  #write(sections: readonly LocalSection[]): string {
    this.#sections = sections
    this.#offeredPast = this.#before = undefined
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

/** Returns the port of the path, if the line names only that one. */
function portOf(sections: readonly LocalSection[]): number | undefined {
  const [path] = sections.flatMap((one) => ('refused' in one ? [] : [one.path]))
  return path?.ice === 'alone' ? path.port : undefined
}
