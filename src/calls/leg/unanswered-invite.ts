// The INVITE of a leg until its final response (RFC 3261 §13): one that came, or one that was sent.
import type { IncomingInvite, Reply } from '../../sip/sip.ts'

/** The reason for the end of a call that lasted too long. */
export const maxCallDuration = 'Max Call Duration'

export interface UnansweredInvite {
  /** The INVITE that came, which the platform may answer. */
  readonly incoming: IncomingInvite | undefined
  /** The longest time that it may stay unanswered, and the reason that is given after it. */
  readonly limit: { readonly ms: number; readonly reason: string }
  /** The SIP status with which an unanswered leg ends when the platform hangs up. */
  readonly hangUpStatus: number
  /** Refuses an INVITE that came, or cancels one that was sent. Resolves when the far end has responded. */
  withdraw(reply: Reply): Promise<void>
}

export function unansweredIncoming(invite: IncomingInvite, limitMs: number): UnansweredInvite {
  return {
    incoming: invite,
    limit: { ms: limitMs, reason: maxCallDuration },
    hangUpStatus: 503,
    async withdraw(reply) {
      invite.reject(reply)
    },
  }
}
