// Verbs that run beside those of the call, on another leg of it: what a hook answers about that leg.
import type { HookKind } from '../journal/journal.ts'
import type { Leg } from '../leg/leg.ts'
import type { RunnableVerb } from '../verb.ts'
import type { HookForm } from './hook-form.ts'

export interface NestedRun {
  readonly leg: Leg
  readonly hook: HookForm
  /** The verbs that make sense there; others are left out, and the journal says so. */
  readonly allowed: ReadonlySet<string>
  readonly signal: AbortSignal
}

/** What a hook is to answer about one side of a bridge. */
export interface PreparedRun extends NestedRun {
  readonly kind: HookKind
  /** Beside the facts of the leg. */
  readonly fields: object
  /** In place of these facts. */
  readonly payload?: object
}

export interface BesideRun extends Pick<NestedRun, 'leg' | 'allowed'> {
  readonly verbs: unknown
  /** The end of the leg, where it is not given. */
  readonly signal?: AbortSignal
}

export interface NestedVerbs {
  /** Resolves when the last verb has run. Throws AppError when the hook cannot be asked, or answers with something else. */
  run(run: NestedRun): Promise<void>
  /**
   * Asks the hook, and returns what runs the verbs that it answered; undefined where it answered none, or others than those
   * that are allowed, which the journal of the leg has as a problem. Throws AppError as `run` does.
   */
  prepare(run: PreparedRun): Promise<(() => Promise<void>) | undefined>
  /** Reads a list of the allowed verbs, and returns what runs it. Throws hook_invalid_payload. */
  beside(run: BesideRun): () => Promise<void>
  /** What a hook answers about a leg. Throws AppError as `run` does. */
  ask(leg: Leg, hook: HookForm, kind: HookKind, fields: object): Promise<readonly RunnableVerb[]>
  /** The leg becomes a call of its own, which these verbs run to its end. */
  goOn(leg: Leg, verbs: readonly RunnableVerb[]): void
  /** The leg becomes a call of its own, which the hook runs to its end. */
  handOver(leg: Leg, hook: HookForm): void
  /** Asks a hook whose answer counts for nothing. Never rejects. */
  tell(leg: Leg, hook: HookForm, fields: Readonly<Record<string, unknown>>): Promise<void>
}
