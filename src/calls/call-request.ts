// A call as a client of the API, or an application over WebSocket, asks for it.
import type { HeaderField } from '../sip/message/message.ts'
import type { HookForm } from './application/hook-form.ts'
import type { Target } from './outbound/target.ts'
import type { CallScript } from './ports.ts'

/** What both the request and the order say. */
export interface CallWishes {
  readonly to: Target
  readonly from: string
  /** What the From header says instead of `from`. */
  readonly fromUser?: string
  readonly fromHost?: string
  readonly callerName?: string
  readonly headers: readonly HeaderField[]
  /** The customerData of every payload. */
  readonly tag?: object
  /** Asked where a REFER of the far end may lead. */
  readonly referHook?: HookForm
  /** Asked about what the far end sends within the dialog, and nothing here takes. */
  readonly requestHook?: HookForm
  /** How long it may ring. */
  readonly ringMs: number
  /** How long it may last once it is answered; the platform's own limit holds besides. */
  readonly maxCallMs?: number
  /** What was asked for and is not served, in sentences for the journal. */
  readonly notes: readonly string[]
}

/** As a client asks for it. */
export interface CallRequest extends CallWishes {
  readonly account_sid: string
  readonly runs: { readonly application_sid: string } | { readonly script: CallScript }
}
