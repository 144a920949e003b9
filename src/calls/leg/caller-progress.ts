// The provisional responses to a caller: 180 when nothing else is sent in time, and 183 with early media.
import type { Clock, Timer } from '../../lib/clock.ts'
import type { HeaderField } from '../../sip/message/message.ts'
import { reasonPhraseOf } from '../../sip/message/reason-phrases.ts'
import type { IncomingInvite, Reply } from '../../sip/sip.ts'
import { toDecision } from '../journal/decision.ts'
import type { JournalWriter } from '../journal/journal-writer.ts'
import type { StatusReporter } from './status-reporter.ts'

export interface CallerProgressOptions {
  /** Undefined for a leg that the platform makes: there is no caller. */
  readonly incoming: Pick<IncomingInvite, 'progress'> | undefined
  readonly isUnanswered: () => boolean
  readonly journal: JournalWriter
  readonly status: StatusReporter
  readonly clock: Clock
}

export class CallerProgress {
  readonly #options: CallerProgressOptions
  #isEarly = false
  #hasRung = false
  readonly #waits = new Set<number>()
  #returned: readonly HeaderField[] = []
  #timer: Timer | undefined

  constructor(options: CallerProgressOptions) {
    this.#options = options
  }

  /** The header fields of the called side that the responses to the caller have from now on. */
  get returned(): readonly HeaderField[] {
    return this.#returned
  }

  return(fields: readonly HeaderField[]): void {
    this.#returned = fields
  }

  /** Whether the caller hears early media. */
  get isEarly(): boolean {
    return this.#isEarly
  }

  /**
   * Sends 180 after this time unless another response was sent by then; 0: never. A caller who hears nothing hangs up,
   * and a gateway that gets no response tries another way.
   */
  ringAfter(ms: number): void {
    if (ms === 0 || !this.#maySpeak) return
    this.#timer = this.#options.clock.after(ms, () => {
      if (!this.#maySpeak || this.#hasRung) return
      const outcome = `nothing was said within ${ms} ms`
      this.#options.journal.note(toDecision({ rule: 'ringing', outcome }))
      this.ring()
    })
  }

  /** Sends 180 unless the caller hears early media. Sends it only once, except that one with headers is always sent. */
  ring(headers: readonly HeaderField[] = []): void {
    const hasRung = this.#hasRung
    if (!this.#maySpeak || (hasRung && headers.length === 0)) return
    this.#hasRung = true
    this.#progress({ status: 180, headers })
    if (!hasRung) this.#options.status.reportRinging()
  }

  /** Sends 181 (call is being forwarded) or 182 (queued), each once, unless the caller hears early media. */
  wait(status: 181 | 182): void {
    if (!this.#maySpeak || this.#waits.has(status)) return
    this.#waits.add(status)
    this.#progress({ status })
  }

  /** Sends 183 with SDP, once. */
  hear(sdp: string): void {
    if (!this.#maySpeak) return
    this.#isEarly = true
    this.#progress({ status: 183, body: { type: 'application/sdp', content: sdp } })
    this.#options.status.report({
      call_status: 'early-media',
      sip_status: 183,
      sip_reason: reasonPhraseOf(183),
    })
  }

  close(): void {
    this.#timer?.cancel()
  }

  #progress({ headers = [], ...reply }: Reply): void {
    const all = [...headers, ...this.#returned]
    this.#options.incoming?.progress(all.length === 0 ? reply : { ...reply, headers: all })
  }

  get #maySpeak(): boolean {
    const { incoming, isUnanswered } = this.#options
    return incoming !== undefined && isUnanswered() && !this.#isEarly
  }
}
