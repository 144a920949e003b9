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

  /** The ACK, which answers our offer when we made one. */
  async acknowledge(answer: string | undefined): Promise<void> {
    if (!this.#owesAnswer) return
    this.#owesAnswer = false
    if (answer === undefined)
      throw new AppError('media_not_acceptable', 'the ACK carries no answer to our offer')
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
    if (this.#sdp === undefined) this.#noteOpen(session, codec)
    if (isHeld !== this.#isHeld) {
      this.#isHeld = isHeld
      this.#options.journal.note({ type: isHeld ? 'media-held' : 'media-resumed' })
    }
    return sdp
  }

  #noteOpen(session: MediaSession, codec: string): void {
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
