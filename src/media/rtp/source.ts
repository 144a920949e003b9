// Decides which packets are the far end's, and where media goes: symmetric RTP with a latch that a stranger cannot
// take over. Deviation from RFC 3264 §5.1: media goes to the place packets come from, not to that of the SDP; most
// phones are behind NAT.
import ipaddr from 'ipaddr.js'

export interface Endpoint {
  readonly address: string
  readonly port: number
}

/** The fields of a packet that distinguish streams. */
export interface Numbered {
  readonly ssrc: number
  readonly sequence: number
}

export interface Signalled {
  readonly remote: Endpoint | undefined
  readonly isBarred: boolean
  /** The address that signalling comes from. */
  readonly peer: string | undefined
}

/**
 * The reason to trust a source: it is the place in the SDP; it has only the address of the SDP; it has the address of
 * signalling; it continues the stream of the last source; no other source was heard of a phone behind NAT; its
 * packets are authentic; or, for a browser, it is the place of the handshake.
 */
export type Trust =
  'sdp' | 'sdp-address' | 'sip-address' | 'same-stream' | 'behind-nat' | 'authentic' | 'handshake'

export type Verdict = 'known' | 'latched' | 'foreign'

// A phone that changed its network keeps its SSRC and sequence, which a stranger off the path cannot guess. Ten
// packets of silence from the old place are enough to trust the new one.
const movedAfterMs = 200
const plausibleStep = 500
// The media of a phone may leave its NAT by another address than its signalling. Such a source is accepted only after
// this time, in which packets from both addresses of signalling should have come.
const namedPlacesFirstMs = 2000
// Stray packets of another call seldom come for this long in one stream.
const provenAfterMs = 200
const minProvenPackets = 5
// The longest gap in a stream that is being proven. A gap longer than a pause of comfort noise begins another attempt.
const maxGapMs = 100
// The largest step of sequence numbers: half a second of loss does not prove a stream. A sender that sweeps many of
// our ports with one counter makes larger steps.
const provenStep = 25
const maxCandidates = 8

/** Places of more trust take over immediately, others only after signalling has named a place again. */
const ranks: Readonly<Record<Exclude<Trust, 'same-stream' | 'handshake'>, number>> = {
  authentic: 3,
  sdp: 3,
  'sdp-address': 2,
  'sip-address': 2,
  'behind-nat': 1,
}

interface Latched extends Endpoint {
  /** The same place as an object of its own, for senders. */
  readonly endpoint: Endpoint
  readonly rank: number
  readonly trust: Trust
  ssrc: number
  sequence: number
  heardMs: number
}

interface Candidate extends Numbered {
  readonly endpoint: Endpoint
  readonly sinceMs: number
  readonly heardMs: number
  readonly packets: number
}

function isSame(a: Endpoint, b: Endpoint): boolean {
  return a.port === b.port && a.address === b.address
}

function isAhead(former: Numbered, { ssrc, sequence }: Numbered, atMost: number): boolean {
  const step = (sequence - former.sequence) & 0xffff
  return ssrc === former.ssrc && step > 0 && step <= atMost
}

// Addresses that are valid only within their own network, by the library's names.
const privateRanges: ReadonlySet<string> = new Set([
  'private',
  'carrierGradeNat',
  'uniqueLocal',
  'linkLocal',
  'loopback',
])

function isPrivate(address: string): boolean {
  return ipaddr.isValid(address) && privateRanges.has(ipaddr.process(address).range())
}

export class SourceLatch {
  #signalled: Endpoint | undefined
  #peer: string | undefined
  /** Whether the signalled place may be neither sent to nor trusted. */
  #isBarred = false
  #isBehindNat = false
  #latched: Latched | undefined
  /** The time when signalling last named a place of media; cleared when a packet of the latched source comes. */
  #openSinceMs: number | undefined
  #candidates: Candidate[] = []

  /** The place to send to: the latched source, or the place in the SDP until a packet has come. */
  get destination(): Endpoint | undefined {
    return this.#latched?.endpoint ?? (this.#isBarred ? undefined : this.#signalled)
  }

  get latched(): Endpoint | undefined {
    return this.#latched?.endpoint
  }

  /** The time of the last packet of the latched source. */
  get heardMs(): number {
    return this.#latched?.heardMs ?? 0
  }

  get trust(): Trust | undefined {
    return this.#latched?.trust
  }

  /**
   * Whether signalling comes from another network than the private address in the SDP, which then cannot be reached.
   */
  get isBehindNat(): boolean {
    return this.#isBehindNat
  }

  /**
   * Applies an offer or answer and the address that it came from. Signalling is trusted: a new place is used
   * immediately, and a phone that resumes may come with another stream from another port.
   */
  signal({ remote, isBarred, peer }: Signalled, nowMs: number): void {
    this.#peer = peer
    this.#openSinceMs = nowMs
    this.#candidates = []
    const former = this.#signalled
    const isNew = remote !== undefined && (former === undefined || !isSame(remote, former))
    if (isNew) {
      this.#isBarred = isBarred
      this.#signalled = remote
      this.#latched = undefined
    }
    const address = this.#signalled?.address
    this.#isBehindNat = peer !== undefined && address !== undefined && peer !== address && isPrivate(address)
  }

  /** Returns whether signalling named this address, or media comes from it. */
  isNamed(address: string): boolean {
    return (
      address === this.#latched?.endpoint.address ||
      (!this.#isBarred && address === this.#signalled?.address) ||
      address === this.#peer
    )
  }

  /**
   * Returns whether the packet is the far end's, and latches on to its source if allowed. An authentic packet is the
   * far end's, from any place.
   */
  accept(from: Endpoint, packet: Numbered, nowMs: number, isAuthentic = false): Verdict {
    const latched = this.#latched
    if (latched !== undefined && isSame(from, latched)) {
      // Stored only if it differs: storing a number that is not a small integer allocates an object.
      if (latched.ssrc !== packet.ssrc) latched.ssrc = packet.ssrc
      latched.sequence = packet.sequence
      latched.heardMs = nowMs
      if (this.#openSinceMs !== undefined) this.#openSinceMs = undefined
      return 'known'
    }
    if (isAuthentic) return this.#acceptAuthentic(latched, from, packet, nowMs)
    const trust = this.#trustOf(from)
    const rank = trust === undefined ? 0 : ranks[trust]
    if (latched !== undefined && packet.ssrc === latched.ssrc)
      return this.#follow(latched, { from, rank, trust }, packet, nowMs)
    if (trust === undefined) return this.#prove(from, packet, nowMs)
    const isOpen = this.#openSinceMs !== undefined
    if (latched !== undefined && rank <= latched.rank && !isOpen) return 'foreign'
    return this.#latch({ from, rank, trust }, packet, nowMs)
  }

  /** An authentic packet from another place. A late packet of the old place is accepted, without moving back there. */
  #acceptAuthentic(latched: Latched | undefined, from: Endpoint, packet: Numbered, nowMs: number): Verdict {
    if (latched?.ssrc === packet.ssrc && !isAhead(latched, packet, plausibleStep)) {
      latched.heardMs = nowMs
      return 'known'
    }
    const trust = this.#trustOf(from) ?? 'authentic'
    return this.#latch({ from, rank: ranks.authentic, trust }, packet, nowMs)
  }

  #trustOf(from: Endpoint): 'sdp' | 'sdp-address' | 'sip-address' | undefined {
    const signalled = this.#signalled
    if (!this.#isBarred && from.address === signalled?.address)
      return from.port === signalled.port ? 'sdp' : 'sdp-address'
    return from.address === this.#peer ? 'sip-address' : undefined
  }

  /** The latched stream from another place. A late packet of the old place does not move it back. */
  #follow(latched: Latched, { from, rank, trust }: Place, packet: Numbered, nowMs: number): Verdict {
    if (!isAhead(latched, packet, plausibleStep)) return 'foreign'
    if (trust !== undefined && rank > latched.rank) return this.#latch({ from, rank, trust }, packet, nowMs)
    if (nowMs - latched.heardMs < movedAfterMs) return 'foreign'
    return this.#latch({ from, rank: latched.rank, trust: 'same-stream' }, packet, nowMs)
  }

  /**
   * A source that signalling did not name. The first one with a continuous stream is trusted, if the phone may be
   * behind such a NAT.
   */
  #prove(endpoint: Endpoint, packet: Numbered, nowMs: number): Verdict {
    const openSinceMs = this.#openSinceMs
    const mayBe =
      this.#isBehindNat &&
      openSinceMs !== undefined &&
      nowMs - openSinceMs >= namedPlacesFirstMs &&
      (this.#latched?.rank ?? 0) <= ranks['behind-nat']
    if (!mayBe) return 'foreign'
    const { ssrc, sequence } = packet
    const former = this.#candidates.find((one) => isSame(one.endpoint, endpoint))
    const isContinued =
      former !== undefined && isAhead(former, packet, provenStep) && nowMs - former.heardMs <= maxGapMs
    const sinceMs = isContinued ? former.sinceMs : nowMs
    const packets = isContinued ? former.packets + 1 : 1
    if (nowMs - sinceMs >= provenAfterMs && packets >= minProvenPackets)
      return this.#latch({ from: endpoint, rank: ranks['behind-nat'], trust: 'behind-nat' }, packet, nowMs)
    const others = this.#candidates.filter((one) => one !== former && nowMs - one.heardMs <= maxGapMs)
    if (others.length < maxCandidates)
      others.push({ endpoint, ssrc, sequence, sinceMs, heardMs: nowMs, packets })
    this.#candidates = others
    return 'foreign'
  }

  #latch({ from, rank, trust }: Place<Trust>, { ssrc, sequence }: Numbered, nowMs: number): 'latched' {
    // A copy, since the object of a socket may hold more.
    const endpoint = { address: from.address, port: from.port }
    this.#latched = { ...endpoint, endpoint, rank, trust, ssrc, sequence, heardMs: nowMs }
    this.#openSinceMs = undefined
    this.#candidates = []
    return 'latched'
  }
}

interface Place<T = Trust | undefined> {
  readonly from: Endpoint
  readonly rank: number
  readonly trust: T
}
