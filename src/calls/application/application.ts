// The interface of an application for the code that runs a call, over any transport: it gets facts and answers with
// verbs. Hooks are passed on as written.
import type { Hook } from '../../contracts/hook.ts'
import type { HookKind } from '../journal/journal.ts'
import type { Leg } from '../leg/leg.ts'
import type { CallScript } from '../ports.ts'
import type { RunnableVerb } from '../verb/verb.ts'
import type { HookForm } from '../verb/hook-form.ts'

export interface Question {
  /** The leg whose facts are sent, and whose journal gets the question and the answer. */
  readonly leg: Leg
  readonly kind: HookKind
  readonly hook: HookForm
  /** Sent in addition to the facts of the leg. */
  readonly fields?: object
  /** Sent instead of the facts of the leg. */
  readonly payload?: object
  readonly signal: AbortSignal
}

/** An event whose answer is ignored. */
export interface Notice {
  readonly leg: Leg
  readonly hook: HookForm
  readonly payload: object
}

export interface VerbsAnswer {
  /** The server that answered. Relative hooks of these verbs lead there. */
  readonly by: Answerer
  /** Empty if the answer had no verbs. */
  readonly verbs: readonly RunnableVerb[]
  readonly contentType: string
  /** True if it contained JSON that was not read, because of its content type. */
  readonly isUnread?: boolean
}

/** A server that hooks are sent to: over HTTP, or over an open socket. */
export interface Answerer {
  /** Throws AppError: hook_* of the exchange, or hook_invalid_payload if the answer is not a list of verbs. */
  ask(question: Question): Promise<VerbsAnswer>
  /** Resolves when it was accepted. It is not journalled. Throws AppError as `ask` does. */
  tell(notice: Notice): Promise<void>
  /** Returns the address of a file that the server's verbs name. */
  resolveUrl(url: string): string
  /** Returns the complete hook, for senders that do not use the application: status hooks. */
  hookOf(form: HookForm): Hook
}

export interface Successor {
  readonly call_hook: Hook
  /** The hook as it was written, if it is sent over a socket. */
  readonly adulting?: HookForm
}

export interface Application extends Answerer {
  readonly script: CallScript
  /** True if the application stays when no verb is left, because it may send more at any time. */
  readonly staysWhenIdle: boolean
  /** Notes that the verbs of this answer run from now on. */
  follow(answer: Pick<VerbsAnswer, 'by'>): void
  /** Returns an application for verbs that run beside the current ones. Its `follow` does not change this one. */
  beside(answer?: Pick<VerbsAnswer, 'by'>): Application
  /** Returns the application of a leg that becomes a call of its own with this hook. */
  successor(form: HookForm): Successor
  /** Reports the progress of a verb, if the application has asked for that. */
  tellVerb(event: Readonly<Record<string, unknown>>): void
  /** Reports a fault, if the application has a WebSocket. */
  tellError(call_sid: string, data: object): void
}
