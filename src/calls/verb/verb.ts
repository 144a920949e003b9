// The engine's view of a verb: how to run it, and the state of the call that it needs. Verbs are in verbs/.
import type { Abilities } from './abilities.ts'

/**
 * `nothing`: runs in any state. `audio`: answers an unanswered call first, or opens early media when `isEarlyMedia`.
 * `answered`, `unanswered`: skipped, not an error, when the call is otherwise.
 */
export type VerbNeeds = 'nothing' | 'audio' | 'answered' | 'unanswered'

export interface VerbContext {
  /** Aborts on hang-up, redirect or replacement. The abort ends every wait of the verb. */
  readonly signal: AbortSignal
}

/** `failed`: the verb has not done what it is for, and the journal already says why. */
export type VerbResult = 'failed' | void

/** One verb of an application, its options already checked. */
export interface RunnableVerb {
  readonly name: string
  /** Echoed as verb_id in its action hook. */
  readonly id?: string
  readonly needs: VerbNeeds
  readonly isEarlyMedia: boolean
  /** The given properties that the verb does not have, for the journal. */
  readonly ignored: readonly string[]
  /** Runs the verb and resolves when it is done. Throws AppError for a failure that the call survives. */
  run(abilities: Abilities, context: VerbContext): Promise<VerbResult>
}

/** Parses a list of verbs in either notation. Throws hook_invalid_payload naming the verb and the field. */
export type ParseVerbs = (list: unknown) => readonly RunnableVerb[]

export interface ReadVerbsOptions {
  /** The account that the time is charged to. */
  readonly account_sid: string
  readonly signal?: AbortSignal
}

/** Parses a list of any length beside other work of the main thread. Rejects as ParseVerbs throws. */
export type ReadVerbs = (list: unknown, options: ReadVerbsOptions) => Promise<readonly RunnableVerb[]>
