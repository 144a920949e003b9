// The INVITEs of an outbound leg that is not answered yet, and their withdrawal.
import type { OutgoingInvite, Reply } from '../../sip/sip.ts'
import type { UnansweredInvite } from '../leg/unanswered-invite.ts'

export class OutgoingInvites implements UnansweredInvite {
  readonly incoming = undefined
  readonly limit: UnansweredInvite['limit']
  readonly hangUpStatus = 487
  readonly #current = new Set<OutgoingInvite>()

  constructor(ringMs: number) {
    this.limit = { ms: ringMs, reason: 'Ring Timeout' }
  }

  /** Adds an INVITE to those that `withdraw` cancels, until its outcome. */
  sent(invite: OutgoingInvite): void {
    this.#current.add(invite)
    void invite.outcome.then(() => this.#current.delete(invite))
  }

  /** Cancels an INVITE because another place is tried. `withdraw` does not wait for its end. */
  abandon(invite: OutgoingInvite): void {
    this.#current.delete(invite)
    invite.cancel()
  }

  async withdraw({ headers = [] }: Reply): Promise<void> {
    const invites = [...this.#current]
    for (const invite of invites) invite.cancel(headers)
    await Promise.all(invites.map(({ outcome }) => outcome))
  }
}
