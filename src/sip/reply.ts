// A response as its owner words it: the stack adds what the RFCs want.
import type { HeaderField } from './message/message.ts'

export interface Reply {
  readonly status: number
  /** Defaults to the phrase of RFC 3261 §21. */
  readonly reason?: string
  readonly headers?: readonly HeaderField[]
  readonly body?: { readonly type: string; readonly content: string }
  /**
   * The answer to a sender that has not proved who and where it is: sent once for each time it asks, and forgotten, so
   * that a forged address floods no third party and costs no memory (RFC 3261 §26.3.2.4).
   */
  readonly isUnproven?: true
}
