// Our side of a leg that is not answered yet: the INVITE that is under way, one after another where several places are
// tried, and its withdrawal.
import type { OutgoingInvite, Reply } from '../../sip/sip.ts'
import type { Unanswered } from '../unanswered.ts'

export class Dialling implements Unanswered {
  readonly incoming = undefined
  readonly limit: Unanswered['limit']
  readonly hangUpStatus = 487
  #current: OutgoingInvite | undefined

  constructor(ringMs: number) {
    this.limit = { ms: ringMs, reason: 'Ring Timeout' }
  }

  /** From now on this is the INVITE to withdraw. */
  sent(invite: OutgoingInvite): void {
    this.#current = invite
  }

  async withdraw({ headers = [] }: Reply): Promise<void> {
    this.#current?.cancel(headers)
    await this.#current?.outcome
  }
}
