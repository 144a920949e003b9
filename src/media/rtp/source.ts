// Which packets are the far end's, and where media goes: symmetric RTP with a latch that a stranger cannot pull over.
// Deviation from RFC 3264 §5.1: media goes where packets come from, not where the SDP says; most phones sit behind NAT.
import ipaddr from 'ipaddr.js'

export interface Endpoint {
  readonly address: string
  readonly port: number
}

/** The part of a packet that tells streams apart. */
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
 * Why a source is believed: it is the place in the SDP; only its address is; its address is the one that signalling comes
 * from; it goes on with the stream of the last source; nothing else was heard of a phone behind NAT; it has the key; or, for a
 * browser, it is where the handshake was made.
 */
export type Trust =
  'sdp' | 'sdp-address' | 'sip-address' | 'same-stream' | 'behind-nat' | 'authentic' | 'handshake'

export type Verdict = 'known' | 'latched' | 'foreign'

// A phone that changed its network keeps its SSRC and sequence, which a stranger off the path cannot know:
// ten packets of silence from the old place are enough to believe it.
const movedAfterMs = 200
const plausibleStep = 500
// A phone whose media leaves its NAT by another address than its signalling does is looked for after this long, when both
// addresses that signalling named should have been heard.
const namedPlacesFirstMs = 2000
// Stray packets of another call seldom go on for so long in one stream.
const provenAfterMs = 200
const minProvenPackets = 5
// Between two packets of a stream that is being proven; more than a pause of comfort noise lasts is another attempt.
const maxGapMs = 100
// Half a second of loss is no stream to go by; one counter over many of our ports steps further.
const provenStep = 25
const maxCandidates = 8

/** Places of more trust take over at once; the others only after signalling said something new. */
const ranks: Readonly<Record<Exclude<Trust, 'same-stream' | 'handshake'>, number>> = {
  authentic: 3,
  sdp: 3,
  'sdp-address': 2,
  'sip-address': 2,
  'behind-nat': 1,
}

interface Latched extends Endpoint {
  /** The same, for those who send. */
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

// Addresses that mean something within their own network only, as the library names them.
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
  /** What signalling named may be neither sent to nor believed. */
  #isBarred = false
  #isBehindNat = false
  #latched: Latched | undefined
  /** When signalling last said where media is; cleared as soon as the latched source is heard again. */
  #openSinceMs: number | undefined
  #candidates: Candidate[] = []

  /** Where to send: the latched source, or what the SDP said until something was heard. */
  get destination(): Endpoint | undefined {
    return this.#latched?.endpoint ?? (this.#isBarred ? undefined : this.#signalled)
  }

  get latched(): Endpoint | undefined {
    return this.#latched?.endpoint
  }

  /** When the latched source was heard last. */
  get heardMs(): number {
    return this.#latched?.heardMs ?? 0
  }

  get trust(): Trust | undefined {
    return this.#latched?.trust
  }

  /** Whether signalling comes from a place where the address in the SDP cannot be reached as it stands. */
  get isBehindNat(): boolean {
    return this.#isBehindNat
  }

  /**
   * What an offer or answer says, and the address that it came from. Signalling is trusted: a new place is believed at
   * once, and a phone that resumes may come with another stream from another port.
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

  /** Whether signalling named this address, or media comes from it. */
  isNamed(address: string): boolean {
    return (
      address === this.#latched?.endpoint.address ||
      (!this.#isBarred && address === this.#signalled?.address) ||
      address === this.#peer
    )
  }

  /** Whether the packet is the far end's; latches when it may. An authentic one is, wherever it comes from. */
  accept(from: Endpoint, packet: Numbered, nowMs: number, isAuthentic = false): Verdict {
    const latched = this.#latched
    if (latched !== undefined && isSame(from, latched)) {
      // Stored where it differs: a store of a number that is no small integer makes an object.
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

  /** Heard elsewhere than before: a late packet of the old place is taken, and is no reason to go back. */
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

  /** The latched stream from another place: a late packet of the old one is no reason to go back. */
  #follow(latched: Latched, { from, rank, trust }: Place, packet: Numbered, nowMs: number): Verdict {
    if (!isAhead(latched, packet, plausibleStep)) return 'foreign'
    if (trust !== undefined && rank > latched.rank) return this.#latch({ from, rank, trust }, packet, nowMs)
    if (nowMs - latched.heardMs < movedAfterMs) return 'foreign'
    return this.#latch({ from, rank: latched.rank, trust: 'same-stream' }, packet, nowMs)
  }

  /** A source that nothing named: the first that keeps one stream is believed, if the phone may be behind such a NAT. */
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
    // A view of its own: what a socket hands out may carry more.
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
