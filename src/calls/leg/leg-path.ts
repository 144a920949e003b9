// Which way the sound of a leg takes: through the platform, or past it, from far end to far end.
import type { FarEnd, FarPlace, MediaEvent, MediaSession, ReofferOptions } from '../../media/media.ts'
import type { LegEvents } from './leg-events.ts'

type Heard = MediaEvent & { readonly type: 'first-packet' | 'moved' }

export interface LegPathOptions {
  readonly session: () => MediaSession | undefined
  readonly events: Pick<LegEvents, 'tell'>
  /** Applies an answer, and writes down what it changes. */
  readonly accept: (answer: string) => Promise<FarEnd | undefined>
}

export class LegPath {
  /** Set while the sound may go past us: brings it back, for what needs it here. Never rejects. */
  onNeeded: (() => Promise<void>) | undefined
  readonly #options: LegPathOptions
  #heard: Heard | undefined
  #isPast = false
  #isEncrypted = false

  constructor(options: LegPathOptions) {
    this.#options = options
  }

  /** The far end sends to another one, or has agreed to. */
  get isPast(): boolean {
    return this.#isPast
  }

  /** The far end has agreed with the platform, and with no one else, on the keys of its packets. */
  get isEncrypted(): boolean {
    return this.#isEncrypted
  }

  /** Where the far end takes its stream, as it says; undefined while it takes none. */
  get place(): FarPlace | undefined {
    return this.#options.session()?.place
  }

  /** Whether the far end is heard from the very place that it names: no NAT is between, and it is no one else's. */
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

  /** Resolves when the sound is here; undefined where it is already. */
  demand(): Promise<void> | undefined {
    return this.onNeeded?.()
  }

  /** Undefined where there is no media. The function makes the offer when it is about to be sent, and never throws. */
  reoffer(options: ReofferOptions): (() => string) | undefined {
    const session = this.#options.session()
    if (session === undefined) return undefined
    // A far end that began to hold while the offer waited is offered what it has.
    return () => session.reoffer(session.place === undefined ? {} : options)
  }

  /** Throws media_not_acceptable. */
  async accept(answer: string): Promise<FarEnd | undefined> {
    return await this.#options.accept(answer)
  }

  /** Nothing is sent to the far end any more; or again. */
  async goPast(isPast: boolean): Promise<void> {
    if (!isPast) this.#isPast = false
    await this.#options.session()?.goPast(isPast)
  }
}
