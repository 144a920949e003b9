// The media session of one leg: opened when first needed, negotiated once per offer, closed with the leg.
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import type { Logger } from '../../lib/log.ts'
import type {
  FarEnd,
  KeyWay,
  Media,
  MediaEvent,
  MediaSession,
  OfferedProtection,
  PlayOptions,
  PlayResult,
} from '../../media/media.ts'
import { isPlain, type Wiring } from '../../media/wiring.ts'
import type { SipRequest } from '../../sip/message/message.ts'
import type { Remote } from '../../sip/sip.ts'
import { transports } from '../../sip/transport/transports.ts'
import type { JournalWriter } from '../journal/journal-writer.ts'
import type { LegEvents } from './leg-events.ts'
import { LegPath } from './leg-path.ts'
import { LegSound } from './leg-sound.ts'
import { LegTracks } from './leg-tracks.ts'
import { MediaNotes } from './media-notes.ts'
import { toProblem } from '../journal/refusals.ts'
import { SoundCheck } from './sound-check.ts'

export interface LegMediaOptions {
  readonly media: Pick<Media, 'open'>
  readonly journal: JournalWriter
  readonly log: Logger
  readonly onEvent: (event: MediaEvent) => void
  readonly events: LegEvents
  readonly clock: Clock
}

/** The address of the signalling. `branch` identifies one of several INVITEs that each have an offer of their own. */
export interface SipPlace extends Pick<Remote, 'address' | 'transport'> {
  readonly branch?: number
}

/** A hold by the far end. `request` is the request that began it, undefined when it was an answer. */
export interface HoldBy {
  readonly request: SipRequest | undefined
}

type State =
  | { readonly state: 'none' }
  | { readonly state: 'open'; readonly session: MediaSession }
  | { readonly state: 'closed' }

export class LegMedia {
  /** Everything that the far end hears, except for audio that `play` plays to it. */
  readonly sound = new LegSound((wiring) => this.#wire(wiring))
  readonly path = new LegPath({
    session: () => this.#session,
    events: { tell: (event) => this.#options.events.tell(event) },
    accept: (answer) => this.#accept(answer, this.#peer),
  })
  readonly tracks: LegTracks
  readonly #check: SoundCheck
  readonly #options: LegMediaOptions
  readonly #notes: MediaNotes
  #state: State = { state: 'none' }
  #negotiating: Promise<string | undefined> | undefined
  #owesAnswer = false
  #earlyAnswer: string | undefined
  #hold: HoldBy | undefined
  #peer: SipPlace | undefined
  #branches = 0
  #keyWay: KeyWay = 'rfc2833'
  #opening: Promise<MediaSession | undefined> | undefined
  #wirings = 0
  #isPlain = true
  #playing = 0

  constructor(options: LegMediaOptions) {
    this.#options = options
    this.#notes = new MediaNotes(options.journal)
    this.tracks = new LegTracks(this.sound, options.clock)
    this.#check = new SoundCheck({
      clock: options.clock,
      session: () => this.#session,
      isPast: () => this.path.isPast || this.path.isLeaving,
      onProblem: (error) => options.journal.note(toProblem(error)),
      onDoubt: (sentence) => options.journal.note({ type: 'note', sentence }),
    })
  }

  /** Opens the session before the first offer or answer. Throws no_media_port, overloaded or account_share. */
  async reserve(): Promise<void> {
    await this.#opened()
  }

  /** Returns our part of the first offer/answer exchange (RFC 3264): an answer, or an offer if the INVITE has none. */
  negotiate(
    offer: string | undefined,
    peer: SipPlace,
    protection?: OfferedProtection,
  ): Promise<string | undefined> {
    // Early media and the answer may both begin before the first offer has been handled.
    this.#negotiating ??= this.#negotiate(offer, peer, protection)
    return this.#negotiating
  }

  async #negotiate(
    offer: string | undefined,
    peer: SipPlace,
    protection?: OfferedProtection,
  ): Promise<string | undefined> {
    const session = await this.#opened()
    if (session === undefined) return undefined
    this.#face(session, peer)
    return offer === undefined ? await this.#offer(session, protection) : await this.#answer(session, offer)
  }

  /** Returns the place as a new branch. An answer from it is matched with the offer that this branch was sent. */
  branchTo({ address, transport }: SipPlace): SipPlace {
    this.#branches += 1
    return { address, transport, branch: this.#branches }
  }

  /** Returns the offer to the next place that is tried. It names the address that this place can reach. */
  async offerTo(peer: SipPlace, protection?: OfferedProtection): Promise<string | undefined> {
    const session = await this.#opened()
    if (session === undefined) return undefined
    this.#face(session, peer)
    return this.#offer(session, protection)
  }

  /** Notes that the call is answered: from now on the far end must be heard, and must hear us. */
  answered(): void {
    this.#check.answered()
  }

  live(): void {
    this.#session?.live()
  }

  /** Notes that its WebSocket has closed. A closed page sends nothing any more; one that reconnects never stops. */
  doubt(): void {
    this.#session?.doubt()
  }

  /** Returns the SDP that responds to a re-INVITE or UPDATE with an offer, or to a re-INVITE without one. */
  async renegotiate(offer: string | undefined, request?: SipRequest): Promise<string> {
    const session = this.#session
    if (session === undefined) throw new AppError('media_not_acceptable', 'the call has no media')
    return offer === undefined ? await this.#offer(session) : await this.#answer(session, offer, request)
  }

  /** Undefined while the far end does not hold the call. */
  get hold(): HoldBy | undefined {
    return this.#hold
  }

  /** Applies the answer to the platform's offer from the message that must carry it: an ACK or the 200. */
  async acknowledge(answer: string | undefined, peer = this.#peer): Promise<void> {
    if (!this.#owesAnswer) return
    this.#owesAnswer = false
    const early = this.#earlyAnswer
    // A later offer needs an answer of its own, even if that is the same again.
    this.#earlyAnswer = undefined
    if (answer === undefined && early === undefined)
      throw new AppError('media_not_acceptable', 'the far end did not answer the offer')
    if (answer === undefined || answer === early) return this.#session?.settle()
    await this.#accept(answer, peer)
  }

  /** Applies the answer in a provisional response. It holds until that of the 200, which may come from another fork. */
  async acceptEarly(answer: string, peer: SipPlace): Promise<void> {
    if (!this.#owesAnswer || answer === this.#earlyAnswer) return
    this.#earlyAnswer = answer
    try {
      await this.#accept(answer, peer, true)
    } catch (error) {
      this.#earlyAnswer = undefined
      throw error
    }
  }

  /** Applies the answer to our last description, sent again. A stream that bypasses the platform stays as it is. */
  async refreshed(answer: string): Promise<void> {
    if (!this.path.isPast) await this.#accept(answer, this.#peer)
  }

  /** Applies the answer of one of the places that were sent an offer. */
  async #accept(answer: string, peer: SipPlace | undefined, isEarly = false): Promise<FarEnd | undefined> {
    const session = this.#session
    if (session === undefined) return undefined
    if (peer !== undefined) this.#face(session, peer)
    const farEnd = await session.acceptAnswer(answer, { isEarly })
    this.#note(session, farEnd)
    return farEnd
  }

  /** Journals that the call ends because its far end is silent. Returns the explanation. */
  noteSilence(event: MediaEvent & { type: 'timeout' }): string {
    return this.#notes.silence(event)
  }

  get sessionId(): string | undefined {
    return this.#session?.id
  }

  /** Whether the far end hears anything other than the other side of its bridge, or is muted. */
  get isOccupied(): boolean {
    return this.#playing > 0 || !this.#isPlain
  }

  async play(options: PlayOptions): Promise<PlayResult> {
    this.#playing += 1
    try {
      const coming = this.path.demand()
      if (coming !== undefined) await coming
      const session = this.#session
      if (session === undefined) return { reason: 'stopped', playedMs: 0 }
      return await session.play(options)
    } finally {
      this.#playing -= 1
    }
  }

  async #wire(wiring: Wiring): Promise<void> {
    this.#wirings += 1
    const turn = this.#wirings
    this.#isPlain = isPlain(wiring)
    const coming = this.#isPlain ? undefined : this.path.demand()
    if (coming !== undefined) await coming
    // A later wiring replaces this one.
    if (turn === this.#wirings) await this.#session?.wire(wiring)
  }

  /** Sets the way in which keys are sent and received, from the next offer or answer on. */
  goBy(keyWay: KeyWay): void {
    this.#keyWay = keyWay
    this.#session?.goBy(keyWay)
  }

  get keyWay(): KeyWay {
    return this.#keyWay
  }

  async sendKeys(digits: string, durationMs?: number): Promise<void> {
    await this.path.demand()
    await this.#session?.sendKeys(digits, durationMs === undefined ? {} : { durationMs })
  }

  /** Resolves when the port is free and the figures are in the journal. */
  async close(): Promise<void> {
    const session = this.#session
    this.#state = { state: 'closed' }
    this.#check.close()
    if (session === undefined) return
    try {
      this.#notes.closed(await session.close())
    } catch (error) {
      this.#options.log.error({ err: error }, 'media session failed to close')
    } finally {
      this.sound.close()
    }
  }

  get #session(): MediaSession | undefined {
    return this.#state.state === 'open' ? this.#state.session : undefined
  }

  get #isClosed(): boolean {
    return this.#state.state === 'closed'
  }

  /** Opens the session once, since offers to several places and early media may begin at the same time. */
  #opened(): Promise<MediaSession | undefined> {
    this.#opening ??= this.#open()
    return this.#opening
  }

  async #open(): Promise<MediaSession | undefined> {
    if (this.#isClosed) return undefined
    const session = await this.#options.media.open()
    // The leg may have ended while a port was being allocated.
    if (this.#isClosed) {
      await session.close()
      return undefined
    }
    this.#state = { state: 'open', session }
    session.goBy(this.#keyWay)
    session.onEvent((event) => {
      this.#options.onEvent(event)
      this.#follow(event)
    })
    this.sound.opened()
    return session
  }

  #face(session: MediaSession, peer: SipPlace): void {
    this.#peer = peer
    session.face(peer.address, peer.branch)
  }

  #follow(event: MediaEvent): void {
    if (event.type === 'first-packet' || event.type === 'moved') this.path.heardFrom(event)
    if (event.type === 'talk') this.#options.events.tell(event.isTalking ? 'talks' : 'silent')
    if (event.type === 'layer-ended') this.sound.layerEnded(event.layer, event.reason)
    this.#notes.event(event)
    this.#check.event(event)
  }

  async #offer(session: MediaSession, protection?: OfferedProtection): Promise<string> {
    this.#owesAnswer = true
    return session.offer(protection)
  }

  async #answer(session: MediaSession, offer: string, request?: SipRequest): Promise<string> {
    const { sdp, ...farEnd } = await session.answer(offer)
    this.#note(session, farEnd, request)
    return sdp
  }

  #note(session: MediaSession, farEnd: FarEnd, request?: SipRequest): void {
    // The leg may have ended while media read the SDP.
    if (this.#isClosed) return
    this.path.agreed(farEnd)
    const peer = this.#peer
    const isSecure = peer !== undefined && transports[peer.transport].isSecure
    this.#notes.open(session, farEnd, { peer: peer?.address, isSecure })
    this.#check.agreed(farEnd)
    const { isHeld } = farEnd
    if (isHeld === (this.#hold !== undefined)) return
    this.#hold = isHeld ? { request } : undefined
    this.#notes.held(isHeld)
    this.#options.events.tell(isHeld ? 'held' : 'resumed')
  }
}
