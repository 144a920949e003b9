// The path of the media of a leg: through the platform, or past it, directly from far end to far end.
import type { FarEnd, FarPlace, MediaEvent, MediaSession, ReofferOptions } from '../../media/media.ts'
import type { LegEvents } from './leg-events.ts'

type Heard = MediaEvent & { readonly type: 'first-packet' | 'moved' }

export interface LegPathOptions {
  readonly session: () => MediaSession | undefined
  readonly events: Pick<LegEvents, 'tell'>
  /** Applies an answer, and journals what it changes. */
  readonly accept: (answer: string) => Promise<FarEnd | undefined>
}

export class LegPath {
  /** Set while media may go past the platform. Brings it back for a feature that needs it here. Never rejects. */
  onNeeded: (() => Promise<void>) | undefined
  readonly #options: LegPathOptions
  #heard: Heard | undefined
  #isPast = false
  #isLeaving = false
  #isEncrypted = false

  constructor(options: LegPathOptions) {
    this.#options = options
  }

  /** Whether the far end sends its media to another far end, or has agreed to. */
  get isPast(): boolean {
    return this.#isPast
  }

  /** Whether nothing is sent to the far end, since its media goes past the platform or is about to. */
  get isLeaving(): boolean {
    return this.#isLeaving
  }

  /** Whether the far end has agreed with the platform, and with no one else, on the keys of its packets. */
  get isEncrypted(): boolean {
    return this.#isEncrypted
  }

  /** The address at which the far end receives its stream, by its SDP; undefined while it receives none. */
  get place(): FarPlace | undefined {
    return this.#options.session()?.place
  }

  /** Whether packets come from the very address in the SDP. Then the address is the far end's own, with no NAT in between. */
  get isWhereItSays(): boolean {
    const { place } = this
    const heard = this.#heard
    return heard?.trust === 'sdp' && heard.address === place?.address && heard.port === place.port
  }

  heardFrom(event: Heard): void {
    this.#heard = event
    this.#options.events.tell('heard')
  }

  agreed({ isPast, encryption }: FarEnd): void {
    const wasPast = this.#isPast
    this.#isEncrypted = encryption !== undefined
    this.#isPast = isPast
    if (wasPast && !isPast) this.#options.events.tell('anchored')
  }

  /** Brings media back to the platform and resolves when it is here. Returns undefined if it is here already. */
  demand(): Promise<void> | undefined {
    return this.onNeeded?.()
  }

  /** Returns a function that makes the offer just before it is sent, without throwing. Undefined without media. */
  reoffer(options: ReofferOptions): (() => string) | undefined {
    const session = this.#options.session()
    if (session === undefined) return undefined
    // If the far end began to hold while the offer waited, the offer repeats the current state.
    return () => session.reoffer(session.place === undefined ? {} : options)
  }

  /** Notes that the far end sends to another one, although its answer could not be applied. */
  taken(): void {
    this.#isPast = true
  }

  /** Forgets the last offer, which the far end has refused. */
  withdraw(): void {
    this.#options.session()?.withdraw()
  }

  /** Applies an answer. Throws media_not_acceptable. */
  async accept(answer: string): Promise<FarEnd | undefined> {
    return await this.#options.accept(answer)
  }

  /** Stops sending to the far end, or starts again. */
  async goPast(isPast: boolean): Promise<void> {
    this.#isLeaving = isPast
    if (!isPast) this.#isPast = false
    await this.#options.session()?.goPast(isPast)
  }
}
