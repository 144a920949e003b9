// Media sessions that a test controls: a playback ends when its clip's time is over on the fake clock.
import type { Clock } from '../../../src/lib/clock.ts'
import { AppError } from '../../../src/lib/errors.ts'
import type { Wiring } from '../../../src/media/wiring.ts'
import type {
  OfferedHandshake,
  OfferedKeys,
  OfferedProtection,
  FarEnd,
  FarPlace,
  KeyWay,
  Media,
  MediaEvent,
  MediaSession,
  OpenOptions,
  PlayOptions,
  PlayResult,
  ReofferOptions,
  StreamStats,
} from '../../../src/media/media.ts'

const stats: StreamStats = {
  packetsSent: 10,
  packetsReceived: 9,
  packetsLost: 1,
  packetsIgnored: 0,
  packetsNotAgreed: 0,
  jitterMs: 2,
  codec: 'PCMU',
}

/** The length of a clip that repeats without end: the longest time of a timer. */
const maxMs = 2 ** 31 - 1

/** Returns a scripted clip, whose path is its length: `/clips/1500` lasts 1.5 s. */
export function clipOf(ms: number): { path: string } {
  return { path: `/clips/${ms}` }
}

export class ScriptedMedia implements Pick<Media, 'open' | 'demandServable'> {
  readonly sessions: ScriptedSession[] = []
  readonly opened: OpenOptions[] = []
  readonly #clock: Clock
  /** The wiring and the keys are applied only after these resolve. */
  wiringHeld: Promise<void> | undefined
  keysHeld: Promise<void> | undefined
  /** Makes each of these fail from now on, also in the sessions that are opened meanwhile. */
  failure: { readonly at: 'open' | 'answer' | 'wire' | 'keys'; readonly error: AppError } | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get openSessions(): number {
    return this.sessions.filter((session) => !session.isClosed).length
  }

  async open(options: OpenOptions = {}): Promise<MediaSession> {
    this.opened.push(options)
    await Promise.resolve()
    if (this.failure?.at === 'open') throw this.failure.error
    const refusal = this.failure?.at === 'answer' ? this.failure.error : undefined
    const session = new ScriptedSession(`m${this.sessions.length + 1}`, {
      clock: this.#clock,
      refusal,
      failsAt: (at) => (this.failure?.at === at ? this.failure.error : undefined),
      heldAt: (at) => (at === 'wire' ? this.wiringHeld : this.keysHeld),
    })
    this.sessions.push(session)
    return session
  }

  demandServable(): void {
    if (this.failure?.at === 'answer') throw this.failure.error
  }
}

interface SessionScript {
  readonly clock: Clock
  /** The refusal of every offer, if any. */
  readonly refusal: AppError | undefined
  readonly failsAt: (at: 'wire' | 'keys') => AppError | undefined
  readonly heldAt: (at: 'wire' | 'keys') => Promise<void> | undefined
}

export class ScriptedSession implements MediaSession {
  readonly id: string
  readonly address = '127.0.0.1'
  readonly port = 26_100
  readonly played: string[] = []
  readonly wirings: Wiring[] = []
  readonly keysSent: string[] = []
  keyWay: KeyWay = 'rfc2833'
  readonly offers: string[] = []
  /** The encryption that each of its own offers requests. */
  readonly protections: (OfferedKeys['sdes'] | OfferedHandshake['dtls'] | undefined)[] = []
  encryption: FarEnd['encryption']
  /** The answers to our own offer. */
  readonly answers: string[] = []
  /** The peers that its SDP is for. */
  readonly peers: string[] = []
  readonly branches: (number | undefined)[] = []
  signsOfLife = 0
  doubts = 0
  isHeld = false
  /** Whether the far end only listens. */
  onlyListens = false
  /** The figures of the stream; by default those of a call with sound. */
  figures: StreamStats = stats
  /** Whether it sends nothing because the two far ends send to each other. */
  isPast = false
  remote = { address: '192.0.2.7', port: 4000 }
  spoken: readonly ('PCMU' | 'PCMA')[] = ['PCMU']
  codec = 'PCMU'
  isClosed = false
  readonly #clock: Clock
  readonly #refusal: AppError | undefined
  readonly #failsAt: SessionScript['failsAt']
  readonly #heldAt: SessionScript['heldAt']
  readonly #listeners: ((event: MediaEvent) => void)[] = []
  #offersPast = false
  #stopPlaying: (() => void) | undefined
  #playing: Promise<unknown> = Promise.resolve()

  constructor(id: string, { clock, refusal, failsAt, heldAt }: SessionScript) {
    this.id = id
    this.#clock = clock
    this.#refusal = refusal
    this.#failsAt = failsAt
    this.#heldAt = heldAt
  }

  face(peer: string, branch?: number): void {
    this.peers.push(peer)
    this.branches.push(branch)
  }

  doubt(): void {
    this.doubts += 1
  }

  live(): void {
    this.signsOfLife += 1
  }

  async answer(sdp: string): Promise<FarEnd & { sdp: string }> {
    this.offers.push(sdp)
    await Promise.resolve()
    if (this.#refusal !== undefined) throw this.#refusal
    this.#offersPast = false
    return { sdp: 'v=0 answer', ...this.#farEnd }
  }

  offer(protection?: OfferedProtection): Promise<string> {
    this.protections.push(protection && ('dtls' in protection ? protection.dtls : protection.sdes))
    return Promise.resolve('v=0 offer')
  }

  acceptAnswer(sdp: string): Promise<FarEnd> {
    this.answers.push(sdp)
    return Promise.resolve(this.#farEnd)
  }

  settle(): void {
    // The answers of this stand-in change nothing.
  }

  reoffer({ past, only }: ReofferOptions = {}): string {
    this.#offersPast = past !== undefined
    if (past !== undefined) return `v=0 past ${past.address}:${past.port}`
    return only === undefined ? 'v=0 offer' : `v=0 offer ${only}`
  }

  withdraw(): void {
    this.#offersPast = false
  }

  async goPast(isPast: boolean): Promise<void> {
    this.isPast = isPast
    await Promise.resolve()
  }

  get #farEnd(): FarEnd {
    const { codec, remote, isHeld } = this
    const isPast = this.#offersPast
    const owesMedia = !isHeld && !isPast && !this.onlyListens && this.encryption !== 'DTLS-SRTP'
    return { codec, remote, isHeld, isPast, owesMedia, encryption: this.encryption }
  }

  get place(): FarPlace | undefined {
    if (this.isHeld) return undefined
    const { remote } = this
    const rtcp = { ...remote, port: remote.port + 1 }
    const codecs = this.spoken.map((encoding, index) => ({ encoding, payloadType: index * 8 }))
    return {
      ...remote,
      rtcp,
      codecs,
      event: { payloadType: 101, clockRate: 8000 },
      packetMs: 20,
      hasRtcpMux: false,
    }
  }

  async play(options: PlayOptions): Promise<PlayResult> {
    if (options.follows === true) await this.#playing
    else this.#stopPlaying?.()
    const playing = this.#play(options)
    this.#playing = playing
    return await playing
  }

  #play({ clip, offsetMs = 0, rounds = 1, signal }: PlayOptions): Promise<PlayResult> {
    this.played.push(clip.path)
    const roundMs = Math.max(0, Number(clip.path.split('/').at(-1)) - offsetMs)
    const wholeMs = roundMs === 0 ? 0 : Math.min(roundMs * rounds, maxMs)
    const started = this.#clock.monotonic()
    return new Promise((resolve) => {
      const end = (reason: PlayResult['reason']): void => {
        timer.cancel()
        signal?.removeEventListener('abort', stop)
        this.#stopPlaying = undefined
        resolve({ reason, playedMs: this.#clock.monotonic() - started })
      }
      const stop = (): void => end('stopped')
      const timer = this.#clock.after(wholeMs, () => end('completed'))
      this.#stopPlaying = stop
      signal?.addEventListener('abort', stop, { once: true })
      if (signal?.aborted === true) stop()
    })
  }

  get isPlaying(): boolean {
    return this.#stopPlaying !== undefined
  }

  /** The wiring in force: what the far end hears, and whether it is heard. */
  get wiring(): Wiring {
    return this.wirings.at(-1) ?? { hears: [] }
  }

  /** The session that it hears, if any. */
  get hears(): string | undefined {
    const [layer] = this.wiring.hears
    return layer?.from.kind === 'session' ? layer.from.id : undefined
  }

  async wire(wiring: Wiring): Promise<void> {
    this.wirings.push(wiring)
    await this.#attempt('wire')
  }

  goBy(keyWay: KeyWay): void {
    this.keyWay = keyWay
  }

  async sendKeys(digits: string): Promise<void> {
    if (this.keyWay === 'info') throw new AppError('media_not_acceptable', 'keys do not go with media')
    this.keysSent.push(digits)
    await this.#attempt('keys')
  }

  async #attempt(at: 'wire' | 'keys'): Promise<void> {
    await this.#heldAt(at)
    const error = this.#failsAt(at)
    if (error !== undefined) throw error
  }

  onEvent(listener: (event: MediaEvent) => void): void {
    this.#listeners.push(listener)
  }

  emit(event: MediaEvent): void {
    if (this.isClosed) return
    for (const listener of this.#listeners) listener(event)
  }

  press(digits: string): void {
    for (const digit of digits) this.emit({ type: 'digit', digit, durationMs: 100 })
  }

  stats(): Promise<StreamStats> {
    return Promise.resolve(this.figures)
  }

  async close(): Promise<StreamStats> {
    if (!this.isClosed) {
      this.isClosed = true
      this.#stopPlaying?.()
    }
    await Promise.resolve()
    return this.figures
  }
}
