// Early media for a caller: 183 with our answer to its offer, or with an offer that its PRACK answers.
import { AppError } from '../../lib/errors.ts'
import { sdpOf } from '../../sip/message/body.ts'
import type { IncomingInvite } from '../../sip/sip.ts'
import type { JournalWriter } from '../journal/journal-writer.ts'
import type { CallerProgress } from './caller-progress.ts'
import { toProblem } from '../journal/refusals.ts'

export interface EarlyMediaOptions {
  readonly leg: {
    readonly callerProgress: Pick<CallerProgress, 'hear' | 'isEarly'>
    readonly journal: Pick<JournalWriter, 'note'>
    readonly hasEnded: boolean
    /** Aborts when the leg ends. */
    readonly signal: AbortSignal
  }
  /** Undefined for a leg that the platform makes: there is no caller. */
  readonly incoming: Pick<IncomingInvite, 'request' | 'takesEarlyOffer'> | undefined
  /** Returns our half of the first offer/answer exchange. Undefined when media cannot serve it, which ends the leg. */
  readonly negotiate: () => Promise<string | undefined>
  /** Applies the answer to our offer. An answer that does not fit ends the leg. */
  readonly acknowledge: (answer: string | undefined) => Promise<void>
  readonly isUnanswered: () => boolean
}

export class EarlyMedia {
  readonly #options: EarlyMediaOptions
  /** Resolves once our offer has its answer, or can no longer get one. */
  readonly #agreed = Promise.withResolvers<void>()

  constructor(options: EarlyMediaOptions) {
    this.#options = options
    options.leg.signal.addEventListener('abort', () => this.#agreed.resolve(), { once: true })
  }

  /** Starts early media without answering. Returns false if the leg has ended, or if the journal says why not. */
  async start(): Promise<boolean> {
    const { leg, incoming, isUnanswered } = this.#options
    if (incoming !== undefined && isUnanswered()) {
      const isOurs = sdpOf(incoming.request) === undefined
      if (isOurs && !incoming.takesEarlyOffer) return this.#isUnheard()
      await this.#send()
      // Audio that is played before the answer to our offer reaches no one.
      if (isOurs && leg.callerProgress.isEarly) await this.#agreed.promise
    }
    return !leg.hasEnded
  }

  /** Applies the answer in the PRACK for our offer. */
  async answered(answer: string | undefined): Promise<void> {
    await this.#options.acknowledge(answer)
    this.#agreed.resolve()
  }

  async #send(): Promise<void> {
    const { leg, negotiate } = this.#options
    if (leg.callerProgress.isEarly) return
    const sdp = await negotiate()
    if (sdp !== undefined) leg.callerProgress.hear(sdp)
  }

  #isUnheard(): false {
    const sentence =
      'nothing can be heard before the answer: the INVITE has no offer, and its caller does not support 100rel'
    this.#options.leg.journal.note(toProblem(new AppError('early_media_unavailable', sentence)))
    return false
  }
}
