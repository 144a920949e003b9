// How the leg that another one talked with last has ended, or how its dial has failed. It decides how that other leg ends, if
// it ends next.
import type { HeaderField } from '../../sip/message/message.ts'
import type { DialFailure } from '../verb/dial-request.ts'
import type { RefusalFact } from '../journal/journal.ts'
import type { HangUpOptions } from './leg-options.ts'

export class LastOther {
  #reasons: readonly HeaderField[] = []
  #failure: DialFailure | undefined
  #broken: RefusalFact | undefined

  /** The Reason fields (RFC 3326) for the end of the leg. */
  get reasons(): readonly HeaderField[] {
    return this.#reasons
  }

  /** Set if the leg has called others, and none of them was connected. */
  get failure(): DialFailure | undefined {
    return this.#failure
  }

  /** The words and the record of the hang-up of the leg, once no verb is left for it. */
  get words(): Pick<HangUpOptions, 'headers' | 'failure'> {
    return { headers: this.#reasons, failure: this.#broken }
  }

  /** `broken`: the failure that ended the other side. */
  hasEnded(reasons: readonly HeaderField[], broken?: RefusalFact): void {
    this.#reasons = reasons
    this.#failure = undefined
    this.#broken = broken
  }

  /** Keeps the failure of a dial. The caller gets it if its call ends next. */
  hasFailed(failure: DialFailure): void {
    this.#reasons = failure.reasons
    this.#failure = failure
    this.#broken = undefined
  }

  /** The call continues, so that its end has another reason. */
  forget(): void {
    this.#reasons = []
    this.#failure = undefined
    this.#broken = undefined
  }
}
