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

  /** From now until its outcome the INVITE is one of those to withdraw. */
  sent(invite: OutgoingInvite): void {
    this.#current.add(invite)
    void invite.outcome.then(() => this.#current.delete(invite))
  }

  /** Another place is tried in its stead: its end is not waited for. */
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
