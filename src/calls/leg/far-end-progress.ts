// The provisional responses to an INVITE that was sent: the far end rings, or sends early media.
import type { Logger } from '../../lib/log.ts'
import { sdpOf } from '../../sip/message/body.ts'
import { headerOf, type SipResponse } from '../../sip/message/message.ts'
import { tagOf } from '../../sip/message/name-addr.ts'
import type { JournalWriter } from '../journal/journal-writer.ts'
import type { LegEvents } from './leg-events.ts'
import type { LegMedia, SipPlace } from './leg-media.ts'
import { toAppError, toProblem } from '../journal/refusals.ts'
import type { StatusReporter } from './status-reporter.ts'

export interface FarEndProgressOptions {
  readonly journal: JournalWriter
  readonly status: StatusReporter
  readonly media: Pick<LegMedia, 'acceptEarly'>
  readonly log: Logger
  readonly events: LegEvents
}

/** The most changes between ringing and early media. Further provisional responses are ignored. */
const maxChanges = 64

export class FarEndProgress {
  readonly #options: FarEndProgressOptions
  /** SDP of provisional responses, by the tag of the fork that sent it. */
  readonly #answers = new Map<string, string>()
  #changes = 0

  constructor(options: FarEndProgressOptions) {
    this.#options = options
  }

  /**
   * Handles a provisional response. If several phones send early media, the latest is heard (RFC 3261 §13.2.2.4 leaves
   * the choice).
   */
  follow(response: SipResponse, from: SipPlace): void {
    if (this.#changes === maxChanges) return
    const { journal, status } = this.#options
    const sdp = sdpOf(response)
    const tag = toTagOf(response)
    // Early media continues: another 180 of the same fork changes nothing.
    if (sdp === undefined && this.#answers.has(tag)) return
    if (sdp === undefined) {
      const before = response.status === 181 ? 'forwarded' : response.status === 182 ? 'queued' : undefined
      if (before !== undefined) this.#options.events.tell(before)
      this.#options.events.tell('ringing')
    } else void this.#hear(sdp, tag, from)
    const { call_status: before } = journal.facts
    if (sdp !== undefined || before !== 'ringing') this.#changes += 1
    const call_status = sdp === undefined ? 'ringing' : 'early-media'
    if (call_status !== before)
      status.report({ call_status, sip_status: response.status, sip_reason: response.reason })
  }

  /** Returns the SDP that answers our offer: that of the 200, or else of an earlier response of the same fork. */
  answerIn(response: SipResponse): string | undefined {
    return sdpOf(response) ?? this.#answers.get(toTagOf(response))
  }

  async #hear(answer: string, tag: string, from: SipPlace): Promise<void> {
    const { journal, media, log, events } = this.#options
    this.#answers.set(tag, answer)
    try {
      await media.acceptEarly(answer, from)
      events.tell('early-media')
    } catch (error) {
      journal.note(toProblem(toAppError(error, log)))
    }
  }
}

/** Returns the tag that distinguishes the forks of an INVITE. */
function toTagOf(response: SipResponse): string {
  return tagOf(headerOf(response, 'to')) ?? ''
}
