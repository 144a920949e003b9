// Whether sound arrives on one leg, in both directions. A call without sound continues, and its journal, record and
// alert say where the packets should have come from and gone to.
import type { Clock, Timer } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import type { FarEnd, MediaEvent, MediaSession, StreamStats } from '../../media/media.ts'
import { noDelivery, noMention, noReception } from './media-facts.ts'

/** A far end that sends at all has sent a packet by then, and a caller who hears nothing is still there. */
export const firstPacketMs = 3000

export interface SoundCheckOptions {
  readonly clock: Clock
  readonly session: () => MediaSession | undefined
  /** Whether packets go past the platform, or may do so soon. */
  readonly isPast: () => boolean
  readonly onProblem: (error: AppError) => void
  /** Called once, if sound may not arrive. */
  readonly onDoubt: (sentence: string) => void
}

export class SoundCheck {
  readonly #options: SoundCheckOptions
  #isAnswered = false
  #wasHeard = false
  #farEnd: FarEnd | undefined
  #timer: Timer | undefined
  #hasDoubted = false
  readonly #reported = new Set<AppError['code']>()

  constructor(options: SoundCheckOptions) {
    this.#options = options
  }

  answered(): void {
    this.#isAnswered = true
    this.#expect()
  }

  agreed(farEnd: FarEnd): void {
    this.#farEnd = farEnd
    this.#expect()
  }

  event(event: MediaEvent): void {
    if (event.type === 'first-packet') this.close()
    if (event.type === 'first-packet') this.#wasHeard = true
    if (event.type === 'undelivered') this.#undelivered(event)
  }

  close(): void {
    this.#timer?.cancel()
    this.#timer = undefined
  }

  get #isOwed(): boolean {
    return this.#isAnswered && !this.#wasHeard && this.#farEnd?.owesMedia === true && !this.#options.isPast()
  }

  /** Waits for the first packet from now on, if it must come. */
  #expect(): void {
    if (!this.#isOwed) return this.close()
    this.#timer ??= this.#options.clock.after(firstPacketMs, () => {
      this.#timer = undefined
      void this.#check()
    })
  }

  async #check(): Promise<void> {
    // The worker decides: while the main thread is late, the event of the first packet may wait unread.
    const stats = await this.#options
      .session()
      ?.stats()
      .catch(() => undefined)
    const session = this.#options.session()
    if (stats === undefined || session === undefined || !this.#isOwed || stats.packetsReceived > 0) return
    this.#report(new AppError('no_media_received', this.#sentence(session, stats)))
  }

  #sentence({ address, port }: MediaSession, stats: StreamStats): string {
    return noReception({ address, port }, this.#farEnd?.remote, stats)
  }

  #undelivered({ to, shown }: MediaEvent & { type: 'undelivered' }): void {
    const session = this.#options.session()
    if (session === undefined || !this.#isAnswered || this.#farEnd?.isHeld !== false) return
    if (this.#options.isPast()) return
    const { address, port } = session
    // A device that reports on no stream would raise this alert with each of its calls.
    if (shown === 'unmentioned') return this.#doubt(noMention({ address, port }, to))
    this.#report(new AppError('no_media_delivered', noDelivery({ address, port }, to, shown)))
  }

  #doubt(sentence: string): void {
    if (!this.#hasDoubted) this.#options.onDoubt(sentence)
    this.#hasDoubted = true
  }

  #report(error: AppError): void {
    if (this.#reported.has(error.code)) return
    this.#reported.add(error.code)
    this.#options.onProblem(error)
  }
}
