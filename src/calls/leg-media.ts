// The media session of one leg: opened when first needed, negotiated once per offer, closed with the leg.
import { AppError } from '../lib/errors.ts'
import type { Logger } from '../lib/log.ts'
import type { Media, MediaEvent, MediaSession, PlayOptions, PlayResult, StreamStats } from '../media/media.ts'
import type { MediaFact } from './journal.ts'
import type { JournalWriter } from './journal-writer.ts'

export interface LegMediaOptions {
  readonly media: Pick<Media, 'open'>
  readonly journal: JournalWriter
  readonly log: Logger
  readonly onEvent: (event: MediaEvent) => void
}

type State =
  | { readonly state: 'none' }
  | { readonly state: 'open'; readonly session: MediaSession }
  | { readonly state: 'closed' }

export class LegMedia {
  readonly #options: LegMediaOptions
  #state: State = { state: 'none' }
  #sdp: string | undefined
  #owesAnswer = false
  #earlyAnswer: string | undefined
  #isOpenNoted = false
  #isHeld = false

  constructor(options: LegMediaOptions) {
    this.#options = options
  }

  get isHeld(): boolean {
    return this.#isHeld
  }

  /** Our half of the first offer/answer exchange (RFC 3264); an offer of ours when the INVITE has none. */
  async negotiate(offer: string | undefined): Promise<string | undefined> {
    if (this.#sdp !== undefined) return this.#sdp
    const session = await this.#open()
    if (session === undefined) return undefined
    this.#sdp = offer === undefined ? await this.#offer(session) : await this.#answer(session, offer)
    return this.#sdp
  }

  /** A re-INVITE or UPDATE with an offer, or a re-INVITE that asks for one. */
  async renegotiate(offer: string | undefined): Promise<string> {
    const session = this.#session
    if (session === undefined) throw new AppError('media_not_acceptable', 'the call has no media')
    return offer === undefined ? await this.#offer(session) : await this.#answer(session, offer)
  }

  /** The message that owes the answer to our offer, when we made one: an ACK, or the 200 to an INVITE of ours. */
  async acknowledge(answer: string | undefined): Promise<void> {
    if (!this.#owesAnswer) return
    this.#owesAnswer = false
    const early = this.#earlyAnswer
    if (answer === undefined && early === undefined)
      throw new AppError('media_not_acceptable', 'no answer came to our offer')
    if (answer === undefined || answer === early) return
    await this.#accept(answer)
  }

  /** A provisional response with an answer: it holds until that of the 200, which may be of another fork. */
  async acceptEarly(answer: string): Promise<void> {
    if (!this.#owesAnswer || answer === this.#earlyAnswer) return
    this.#earlyAnswer = answer
    try {
      await this.#accept(answer)
    } catch (error) {
      this.#earlyAnswer = undefined
      throw error
    }
  }

  async #accept(answer: string): Promise<void> {
    const session = this.#session
    if (session === undefined) return
    const { codec } = await session.acceptAnswer(answer)
    this.#noteOpen(session, codec)
  }

  async play(options: PlayOptions): Promise<PlayResult> {
    const session = this.#session
    if (session === undefined) return { reason: 'stopped', playedMs: 0 }
    return session.play(options)
  }

  /** Resolves when the port is free and the figures are in the journal. */
  async close(): Promise<void> {
    const session = this.#session
    this.#state = { state: 'closed' }
    if (session === undefined) return
    try {
      this.#options.journal.note(toClosedFact(await session.close()))
    } catch (error) {
      this.#options.log.error({ err: error }, 'media session failed to close')
    }
  }

  get #session(): MediaSession | undefined {
    return this.#state.state === 'open' ? this.#state.session : undefined
  }

  get #isClosed(): boolean {
    return this.#state.state === 'closed'
  }

  async #open(): Promise<MediaSession | undefined> {
    if (this.#isClosed) return undefined
    const session = await this.#options.media.open()
    // The leg may have ended while a port was looked for.
    if (this.#isClosed) {
      await session.close()
      return undefined
    }
    this.#state = { state: 'open', session }
    session.onEvent((event) => {
      if (event.type === 'first-packet')
        this.#options.journal.note({ type: 'media-first-packet', address: event.address, port: event.port })
      this.#options.onEvent(event)
    })
    return session
  }

  async #offer(session: MediaSession): Promise<string> {
    this.#owesAnswer = true
    return session.offer()
  }

  async #answer(session: MediaSession, offer: string): Promise<string> {
    const { sdp, codec, isHeld } = await session.answer(offer)
    this.#noteOpen(session, codec)
    if (isHeld !== this.#isHeld) {
      this.#isHeld = isHeld
      this.#options.journal.note({ type: isHeld ? 'media-held' : 'media-resumed' })
    }
    return sdp
  }

  /** Once: later offers and answers change it. */
  #noteOpen(session: MediaSession, codec: string): void {
    if (this.#isOpenNoted) return
    this.#isOpenNoted = true
    this.#options.journal.note({ type: 'media-open', codec, address: session.address, port: session.port })
  }
}

function toClosedFact(stats: StreamStats): MediaFact {
  const { remote } = stats
  return {
    type: 'media-closed',
    codec: stats.codec,
    packets_sent: stats.packetsSent,
    packets_received: stats.packetsReceived,
    packets_lost: stats.packetsLost,
    jitter_ms: stats.jitterMs,
    ...(remote === undefined
      ? {}
      : { remote_packets_lost: remote.packetsLost, remote_jitter_ms: remote.jitterMs }),
    ...(remote?.roundTripMs === undefined ? {} : { round_trip_ms: remote.roundTripMs }),
  }
}
