// An application as what runs a call sees it, whatever it is asked over: it gets facts and answers with verbs. Hooks reach it as
// they were written.
import type { Hook } from '../../contracts/hook.ts'
import type { HookKind } from '../journal/journal.ts'
import type { Leg } from '../leg/leg.ts'
import type { CallScript } from '../ports.ts'
import type { RunnableVerb } from '../verb.ts'
import type { HookForm } from './hook-form.ts'

export interface Question {
  /** Whose facts it gets, and whose journal has the question and the answer. */
  readonly leg: Leg
  readonly kind: HookKind
  readonly hook: HookForm
  /** Beside the facts of the leg. */
  readonly fields?: object
  /** In place of these facts. */
  readonly payload?: object
  readonly signal: AbortSignal
}

/** An event whose answer counts for nothing. */
export interface Notice {
  readonly leg: Leg
  readonly hook: HookForm
  readonly payload: object
}

export interface VerbsAnswer {
  /** What answered: hooks of these verbs lead there that do not say it themselves. */
  readonly by: Answerer
  /** Empty when the answer carried none. */
  readonly verbs: readonly RunnableVerb[]
  readonly contentType: string
  /** It carried JSON that was not read, because its content type is another one. */
  readonly isUnread?: boolean
}

/** What can be asked: a server that is reached over HTTP, or one that a socket is open to. */
export interface Answerer {
  /** Throws AppError: hook_* of the exchange, or hook_invalid_payload when the answer is no list of verbs. */
  ask(question: Question): Promise<VerbsAnswer>
  /** Resolves when it was taken. The journal does not have it. Throws AppError as `ask` does. */
  tell(notice: Notice): Promise<void>
  /** The address of a file that its verbs name. */
  resolveUrl(url: string): string
  /** The hook in full, for those who ask it without the application: status hooks. */
  hookOf(form: HookForm): Hook
}

export interface Successor {
  readonly call_hook: Hook
  /** The hook as it was written, where it is asked over a socket. */
  readonly adulting?: HookForm
}

export interface Application extends Answerer {
  readonly script: CallScript
  /** It is not over when its verbs are: it may send others at any time. */
  readonly staysWhenIdle: boolean
  /** The verbs of this answer run from now on. */
  follow(answer: Pick<VerbsAnswer, 'by'>): void
  /** For verbs that run beside its own: those of an answer, or others. What they follow does not change this one. */
  beside(answer?: Pick<VerbsAnswer, 'by'>): Application
  /** What runs a leg that goes on by itself with this hook. */
  successor(form: HookForm): Successor
  /** Says what becomes of a verb, where it has asked for that. */
  tellVerb(event: Readonly<Record<string, unknown>>): void
}
