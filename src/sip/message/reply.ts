// A response as its owner states it: the stack adds the fields that the RFCs require.
import type { ErrorCode } from '../../lib/errors.ts'
import type { HeaderField } from './message.ts'

export interface Reply {
  readonly status: number
  /** Defaults to the phrase of RFC 3261 §21. */
  readonly reason?: string
  readonly headers?: readonly HeaderField[]
  readonly body?: { readonly type: string; readonly content: string }
  /**
   * The response to a sender that has not proved its identity and address. It is sent once per request and forgotten,
   * so that a forged address floods no third party and costs no memory (RFC 3261 §26.3.2.4).
   */
  readonly isUnproven?: true
}

/** The refusal of an INVITE, independent of its sender. */
export interface Owed {
  readonly code: ErrorCode
  readonly reply: Reply
}
