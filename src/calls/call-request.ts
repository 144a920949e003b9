// A call as a client of the API, or an application over WebSocket, requests it.
import type { HeaderField } from '../sip/message/message.ts'
import type { HookForm } from './verb/hook-form.ts'
import type { MachineDetection } from './verb/machine-detection.ts'
import type { Target } from './verb/target.ts'
import type { CallScript } from './ports.ts'

/** The fields that a request and an order have in common. */
export interface CallWishes {
  readonly to: Target
  readonly from: string
  /** The user in the From header, if it is not `from`. */
  readonly fromUser?: string | undefined
  readonly fromHost?: string | undefined
  readonly callerName?: string
  readonly headers: readonly HeaderField[]
  /** Sent as customerData in every payload. */
  readonly tag?: object | undefined
  /** Decides where a REFER of the far end may lead. */
  readonly referHook?: HookForm
  /** Called with requests of the far end within the dialog that the platform itself does not handle. */
  readonly requestHook?: HookForm
  /** Whether a machine has answered, from the answer on. */
  readonly machineDetection?: MachineDetection
  /** The longest time the call may ring. */
  readonly ringMs: number
  /** The longest time the call may last once it is answered. The platform's own limit also applies. */
  readonly maxCallMs?: number
  /** The parts of the request that are not served, as sentences for the journal. */
  readonly notes: readonly string[]
}

/** A call as a client requests it. */
export interface CallRequest extends CallWishes {
  readonly account_sid: string
  readonly runs: { readonly application_sid: string } | { readonly script: CallScript }
}
