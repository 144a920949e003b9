// Verbs that run beside those of the call, on another leg of it, as a hook about that leg answers them.
import type { HookKind } from '../journal/journal.ts'
import type { Leg } from '../leg/leg.ts'
import type { RunnableVerb } from '../verb/verb.ts'
import type { HookForm } from '../verb/hook-form.ts'

export interface NestedRun {
  readonly leg: Leg
  readonly hook: HookForm
  /** The verbs that make sense there. Others are left out, with a note in the journal. */
  readonly allowed: ReadonlySet<string>
  readonly signal: AbortSignal
}

/** A hook about one side of a bridge. */
export interface PreparedRun extends NestedRun {
  readonly kind: HookKind
  /** Sent in addition to the facts of the leg. */
  readonly fields: object
  /** Sent instead of the facts of the leg. */
  readonly payload?: object
}

export interface BesideRun extends Pick<NestedRun, 'leg' | 'allowed'> {
  readonly verbs: unknown
  /** The end of the leg if not given. */
  readonly signal?: AbortSignal
}

export interface NestedVerbs {
  /** Resolves when the last verb has run. Throws AppError if the hook fails, or its answer is not a list of verbs. */
  run(run: NestedRun): Promise<void>
  /**
   * Sends the hook, and returns a function that runs the verbs of its answer. Returns undefined if there are none, or
   * if one is not allowed; the leg's journal then has a problem. Throws AppError as `run` does.
   */
  prepare(run: PreparedRun): Promise<(() => Promise<void>) | undefined>
  /** Reads a list of the allowed verbs, and returns a function that runs them. Throws hook_invalid_payload. */
  beside(run: BesideRun): () => Promise<void>
  /** Throws AppError as `run` does. */
  ask(leg: Leg, hook: HookForm, kind: HookKind, fields: object): Promise<readonly RunnableVerb[]>
  /** Makes the leg a call of its own, which these verbs run to its end. */
  goOn(leg: Leg, verbs: readonly RunnableVerb[]): void
  /** Makes the leg a call of its own, which the hook runs to its end. */
  handOver(leg: Leg, hook: HookForm): void
  /** Sends a hook whose answer is ignored. Never rejects. */
  tell(leg: Leg, hook: HookForm, fields: Readonly<Record<string, unknown>>): Promise<void>
}
