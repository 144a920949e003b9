// The verbs that run a leg, as commands from outside, its far end and the other legs of its session reach them.
import type { Hook } from '../../contracts/hook.ts'
import type { HookForm } from '../application/hook-form.ts'
import type { SipRequest } from '../../sip/message/message.ts'
import type { IncomingReferral, Reply } from '../../sip/sip.ts'
import type { CallScript } from '../ports.ts'
import type { RunnableVerb } from '../verb.ts'

/** Reads a list of the allowed verbs, and returns what runs it on the leg, beside its own. Throws hook_invalid_payload. */
export type Beside = (verbs: unknown, allowed: ReadonlySet<string>) => () => Promise<void>

export interface RunningScript {
  /** Where they came from. */
  readonly source: CallScript
  /** The far end asks for another call (RFC 3515). */
  refer(referral: IncomingReferral): void
  /** The response to what the far end sends within the dialog and nothing else takes; undefined where this takes nothing. */
  take(request: SipRequest): Reply | undefined
  /**
   * Failures are journalled, and the call goes on as it was. `because`: who wants it, in words for the journal. Resolves with
   * whether its verbs run now.
   */
  takeOver(hook: HookForm, because: string): Promise<boolean>
  /** These verbs come at once, in place of the running one and all that were to follow. */
  interrupt(verbs: readonly RunnableVerb[], because: string): void
  readonly beside: Beside
  /** In full, for those who ask it without the application. */
  hookOf(form: HookForm): Hook
}
