// One media session as the call engine uses it: offer and answer here, the packets in a worker.
import { maxAudioHours } from '../../lib/audio/audio-kind.ts'
import { AppError } from '../../lib/errors.ts'
import type { LocalAddress } from '../../network/local-address.ts'
import type { BrowserPaths } from '../browsers/browser-paths.ts'
import { SessionPath } from './session-path.ts'
import { weightOf, type Encoding } from '../codecs/codecs.ts'
import type { Wiring } from '../wiring.ts'
import type {
  FarEnd,
  FarPlace,
  KeyWay,
  MediaEvent,
  MediaSession,
  PlayOptions,
  PlayResult,
  ReofferOptions,
  StreamStats,
} from '../media.ts'
import { nothingYet } from './no-stats.ts'
import type { OfferedProtection } from '../sdp/key-exchange.ts'
import { Negotiation, type Answered } from '../sdp/negotiation.ts'
import type { Agreement } from '../sdp/agreement.ts'
import { permitted } from '../sdp/permitted.ts'
import type { WorkerLink } from '../worker/worker-link.ts'
import { promptLimitMs, type Wired, type Wirings } from '../worker/wirings.ts'
import type { UnheardAddresses } from '../rtp/unheard-addresses.ts'
import { withKeysBy } from './with-keys-by.ts'

export interface SessionOptions {
  readonly id: string
  readonly port: number
  readonly local: LocalAddress
  readonly link: WorkerLink
  readonly wirings: Wirings
  readonly paths: BrowserPaths
  /** Whether media may be sent to an address that SDP names; to any address if undefined. */
  readonly maySendTo?: ((address: string) => boolean) | undefined
  /** Whether a packet must come from an address before more than a second of packets is sent there. */
  readonly mustBeHeard?: ((address: string) => boolean) | undefined
  /** Counts what all calls send to such an address; each may send its second if undefined. */
  readonly unheard?: UnheardAddresses | undefined
  /** The encoding that its first offer begins with. */
  readonly prefers?: string | undefined
  /** The encodings that its first offer may name; all if left out. */
  readonly offers?: readonly Encoding[] | undefined
  /** Called once, when the session is closed or its worker is gone. */
  readonly onClosed: () => void
}

// The longest clip, plus time to read it.
const playLimitMs = (maxAudioHours * 60 + 1) * 60_000
// A playback that repeats, or follows a long one, ends with its call at the latest.
const repeatedPlayLimitMs = 24 * 60 * 60 * 1000
// Long enough for every receiver, short enough that ten digits take four seconds.
const keyMs = 160
const ownIce = { browser: 'alone', ice: 'beside', 'no-ice': 'none' } as const

export class Session implements MediaSession, Wired {
  readonly id: string
  readonly link: WorkerLink
  readonly #port: number
  readonly #wirings: Wirings
  #weight = weightOf()
  readonly #maySendTo: (address: string) => boolean
  readonly #mustBeHeard: SessionOptions['mustBeHeard']
  readonly #unheard: SessionOptions['unheard']
  /** The address that its packets were last aimed at without having heard from there. */
  #aimed: { readonly address: string; readonly isThin: boolean } | undefined
  readonly #onClosed: () => void
  readonly #negotiation: Negotiation
  readonly #path: SessionPath
  readonly #listeners: ((event: MediaEvent) => void)[] = []
  #agreement: Agreement | undefined
  /** Resolves with the first agreement, or when there will be none. */
  readonly #begun = Promise.withResolvers<void>()
  #facing: Parameters<Negotiation['face']> | undefined
  #isPast = false
  #keyWay: KeyWay = 'rfc2833'
  #stats: StreamStats = nothingYet
  #lastPlay = 0
  #closing: Promise<StreamStats> | undefined

  constructor(options: SessionOptions) {
    const { id, port, local, link, wirings, paths, maySendTo = () => true, onClosed } = options
    const { prefers, offers } = options
    this.id = id
    this.link = link
    this.#port = port
    this.#wirings = wirings
    this.#maySendTo = maySendTo
    this.#mustBeHeard = options.mustBeHeard
    this.#unheard = options.unheard
    this.#onClosed = onClosed
    this.#negotiation = new Negotiation({ sessionId: String(Date.now()), port, local, prefers, offers })
    this.#path = new SessionPath({
      paths,
      maySendTo,
      onConnected: () => void this.#stateAgain(),
      onLost: (loss) => this.emit({ type: 'path-lost', loss }),
    })
  }

  /** The load on its worker, where G.711 is 1. */
  get weight(): number {
    return this.#weight
  }

  /** The codec that was agreed on; empty before that. */
  get codec(): string {
    return this.#stats.codec
  }

  get address(): string {
    return this.#negotiation.address
  }

  get port(): number {
    return this.#path.icePort ?? this.#port
  }

  face(peer: string, branch?: number): void {
    this.#facing = [peer, branch]
    this.#negotiation.face(peer, branch)
  }

  async answer(offer: string): Promise<FarEnd & { sdp: string }> {
    const far = this.#negotiation.offeredPath(offer)
    const answered = this.#negotiation.answer(offer, far && (await this.#path.towards(far)))
    if (answered.path === undefined) this.#path.leave()
    return { sdp: answered.sdp, ...(await this.#agree(answered)) }
  }

  async offer(protection?: OfferedProtection): Promise<string> {
    const dtls = protection !== undefined && 'dtls' in protection ? protection.dtls : undefined
    const facing = this.#facing
    const path = dtls && (await this.#path.own(ownIce[dtls]))
    // Another place may have been faced while the path was being opened.
    if (facing !== undefined) this.#negotiation.face(...facing)
    return this.#negotiation.offer({ protection, path })
  }

  async acceptAnswer(sdp: string, { isEarly = false }: { readonly isEarly?: boolean } = {}): Promise<FarEnd> {
    const answered = this.#negotiation.acceptAnswer(sdp, isEarly)
    if (isEarly && answered.path === undefined) this.#path.setAside()
    else this.#path.accept(answered.path)
    return this.#agree(answered)
  }

  settle(): void {
    this.#negotiation.settle()
    this.#path.settle()
  }

  get place(): FarPlace | undefined {
    const { place } = this.#negotiation
    return place !== undefined && this.#maySendTo(place.address) ? place : undefined
  }

  reoffer({ past, only }: ReofferOptions = {}): string {
    return past === undefined ? this.#negotiation.offer({ only }) : this.#negotiation.offerPast(past)
  }

  withdraw(): void {
    this.#negotiation.withdraw()
  }

  async goPast(isPast: boolean): Promise<void> {
    this.#isPast = isPast
    await this.#stateAgain()
  }

  goBy(keyWay: KeyWay): void {
    this.#keyWay = keyWay
  }

  live(): void {
    this.#say('live')
  }

  doubt(): void {
    this.#say('doubt')
  }

  #say(kind: 'live' | 'doubt'): void {
    // If this fails the worker is gone, which its link reports.
    this.link.request<typeof kind>({ kind, session: this.id }, promptLimitMs).catch(() => undefined)
  }

  async play({ clip, offsetMs = 0, rounds = 1, follows = false, signal }: PlayOptions): Promise<PlayResult> {
    // The answer to our own offer comes with the ACK, and a verb does not wait for it.
    if (this.#agreement === undefined) await this.#begins(signal)
    if (signal?.aborted === true || this.#agreement === undefined) return { reason: 'stopped', playedMs: 0 }
    this.#lastPlay += 1
    const play = this.#lastPlay
    const session = this.id
    const stop = (): void => {
      // If this fails the worker is gone, and the playback with it.
      this.link
        .request<'stop-play'>({ kind: 'stop-play', session, play }, promptLimitMs)
        .catch(() => undefined)
    }
    signal?.addEventListener('abort', stop, { once: true })
    try {
      const order = { kind: 'play', session, play, path: clip.path, offsetMs, rounds, follows } as const
      const limitMs = rounds === 1 && !follows ? playLimitMs : repeatedPlayLimitMs
      return await this.link.request<'play'>(order, limitMs)
    } finally {
      signal?.removeEventListener('abort', stop)
    }
  }

  async #begins(signal: AbortSignal | undefined): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    signal?.addEventListener('abort', () => resolve(), { once: true })
    if (signal?.aborted !== true) await Promise.race([this.#begun.promise, promise])
  }

  async wire(wiring: Wiring): Promise<void> {
    await this.#wirings.wire(this.id, wiring)
  }

  async sendKeys(
    digits: string,
    { durationMs = keyMs }: { readonly durationMs?: number } = {},
  ): Promise<void> {
    if (this.#keyWay === 'info') throw new AppError('media_not_acceptable', 'keys do not go with media')
    const limitMs = promptLimitMs + digits.length * (durationMs + 1000)
    const isTone = this.#keyWay === 'tones'
    await this.link.request<'send-keys'>(
      { kind: 'send-keys', session: this.id, digits, durationMs, isTone },
      limitMs,
    )
  }

  onEvent(listener: (event: MediaEvent) => void): void {
    this.#listeners.push(listener)
  }

  async stats(): Promise<StreamStats> {
    if (this.#closing === undefined)
      this.#stats = await this.link.request<'stats'>({ kind: 'stats', session: this.id }, promptLimitMs)
    return this.#stats
  }

  close(): Promise<StreamStats> {
    this.#closing ??= this.#close()
    this.#begun.resolve()
    return this.#closing
  }

  /** Passes an event of the worker to the listeners. */
  emit(event: MediaEvent): void {
    if (event.type === 'first-packet' || event.type === 'moved') this.#unheard?.heard(event.address)
    for (const listener of this.#listeners) listener(event)
  }

  /**
   * Ends the session because its worker died. Its requests have been rejected already; the event reports the end of
   * its media.
   */
  lose(): void {
    if (this.#closing !== undefined) return
    this.#closing = Promise.resolve(this.#stats)
    this.#begun.resolve()
    this.#path.close()
    this.#onClosed()
    this.emit({ type: 'lost' })
  }

  async #agree({ agreement: agreed, isHeld, isPast }: Answered): Promise<FarEnd> {
    this.#agreement = this.#aim(
      withKeysBy(this.#keyWay, permitted(agreed, this.#maySendTo, this.#mustBeHeard)),
    )
    await this.#state(this.#agreement)
    this.#begun.resolve()
    const { encoding: codec, remote } = agreed
    this.#weight = weightOf(codec)
    this.#stats = { ...this.#stats, codec }
    const byKeys = agreed.protection.form === 'sdes' ? agreed.protection.receive.suite : undefined
    const encryption = this.#path.protection === undefined ? byKeys : 'DTLS-SRTP'
    const owesMedia = agreed.mayReceive && !isHeld && !isPast && encryption !== 'DTLS-SRTP'
    return { codec, remote, isHeld, isPast, owesMedia, encryption }
  }

  /** Takes a second of packets for an address that must be heard first. */
  #aim(agreement: Agreement): Agreement {
    const { remote, mustBeHeardAt } = agreement
    if (remote === undefined || mustBeHeardAt?.includes(remote.address) !== true) return agreement
    const { address } = remote
    if (this.#aimed?.address !== address)
      this.#aimed = { address, isThin: this.#unheard?.take(address) === false }
    return { ...agreement, isThin: this.#aimed.isThin }
  }

  async #stateAgain(): Promise<void> {
    // If this fails the worker is gone, which its link reports.
    if (this.#agreement !== undefined) await this.#state(this.#agreement).catch(() => undefined)
  }

  async #state(agreed: Agreement): Promise<void> {
    const agreement = this.#isPast ? { ...agreed, maySend: false, isPast: true } : this.#byPath(agreed)
    await this.link.request<'agree'>({ kind: 'agree', session: this.id, agreement }, promptLimitMs)
  }

  /**
   * Returns the agreement with the place where the browser's handshake was made; before the handshake it has no place.
   */
  #byPath(agreed: Agreement): Agreement {
    const { protection, place, isBetweenPorts } = this.#path
    if (protection === undefined) return agreed
    const nowhere = { remoteRtcp: undefined, barred: undefined, peer: undefined }
    const onPath = { ...agreed, ...nowhere, hasRtcpMux: true }
    if (!isBetweenPorts) return { ...onPath, remote: place, protection }
    const { remote: to, peer } = agreed
    return { ...onPath, remote: place && to, protection: { ...protection, betweenPorts: { to, peer } } }
  }

  async #close(): Promise<StreamStats> {
    try {
      const close = { kind: 'close', session: this.id } as const
      this.#stats = await this.link.request<'close'>(close, promptLimitMs, true)
    } catch {
      // The worker is gone or hangs, and its sockets end with it. The last known figures are the final ones.
    }
    // After the worker has sent its RTCP BYE, which needs the path.
    this.#path.close()
    this.#onClosed()
    return this.#stats
  }
}
