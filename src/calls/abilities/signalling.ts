// The ability to answer, refuse and hang up a call with SIP messages.
import type { HeaderField } from '../../sip/message/message.ts'
import { reasonPhraseOf } from '../../sip/message/reason-phrases.ts'
import type { Leg } from '../leg/leg.ts'
import { reasonHeader } from '../journal/refusals.ts'
import { toHeaderFields } from '../application/app-headers.ts'
import type { Decline, Notes, Signalling } from '../verb/abilities.ts'

export class LegSignalling implements Signalling {
  readonly #leg: Leg
  readonly #notes: Notes

  constructor(leg: Leg, notes: Notes) {
    this.#leg = leg
    this.#notes = notes
  }

  get isAnswered(): boolean {
    return this.#leg.isAnswered
  }

  get hasEnded(): boolean {
    return this.#leg.hasEnded
  }

  answer(): Promise<void> {
    return this.#leg.answer()
  }

  startEarlyMedia(): Promise<boolean> {
    return this.#leg.earlyMedia.start()
  }

  hangUp(headers: Readonly<Record<string, unknown>> | undefined): void {
    const fields = this.#fieldsOf(headers)
    const hasReason = fields.some(({ name }) => name === 'reason')
    const left = hasReason ? [] : this.#leg.lastOther.reasons
    void this.#leg.hangUp({ headers: [...fields, ...left], because: 'the verb hangup' })
  }

  decline({ status, reason, headers }: Decline): void {
    const fields = this.#fieldsOf(headers).filter(({ name }) => name !== 'x-reason')
    const phrase = reason === undefined ? reasonPhraseOf(status) : reasonHeader(reason).value
    this.#leg.decline({ status, reason: phrase, headers: [...fields, reasonHeader('SIP Decline Verb')] })
  }

  #fieldsOf(headers: Readonly<Record<string, unknown>> | undefined): readonly HeaderField[] {
    const { fields, refused } = toHeaderFields(headers)
    if (refused.length > 0)
      this.#notes.note(`these headers may not be set and were left out: ${refused.join(', ')}`)
    return fields
  }
}
