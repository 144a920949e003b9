// The verbs that run a leg, as the interface for commands from outside, its far end and the other legs of its session.
import type { Hook } from '../../contracts/hook.ts'
import type { HookForm } from '../verb/hook-form.ts'
import type { SipRequest } from '../../sip/message/message.ts'
import type { IncomingReferral, Reply } from '../../sip/sip.ts'
import type { CallScript } from '../ports.ts'
import type { RunnableVerb } from '../verb/verb.ts'

/**
 * Reads a list of allowed verbs, and returns a function that runs them beside the leg's own. Throws
 * hook_invalid_payload.
 */
export type Beside = (verbs: unknown, allowed: ReadonlySet<string>) => () => Promise<void>

export interface RunningScript {
  /** The application that the verbs came from. */
  readonly source: CallScript
  /** Handles a REFER of the far end (RFC 3515). */
  refer(referral: IncomingReferral): void
  /**
   * Returns the response to a request within the dialog that nothing else handles, or undefined if the script does not
   * handle it either.
   */
  take(request: SipRequest): Reply | undefined
  /**
   * Replaces the verbs by those of a hook. A failure is journalled, and the call continues unchanged. `because` is for
   * the journal. Resolves with true if the new verbs run now.
   */
  takeOver(hook: HookForm, because: string): Promise<boolean>
  /** Stops the running verb and replaces all that were to follow by these. */
  interrupt(verbs: readonly RunnableVerb[], because: string): void
  /** Lets the leg wait when no verb is left, until the returned function is called. */
  awaitMore(): () => void
  readonly beside: Beside
  /** Returns the complete hook, for senders that do not use the application. */
  hookOf(form: HookForm): Hook
}
