// What the engine knows of a verb: how to run it, and what call it needs. The verbs themselves are in verbs/.
import type { Abilities } from './abilities/abilities.ts'

/**
 * `nothing`: runs in any state. `audio`: answers an unanswered call first, or opens early media when `isEarlyMedia`.
 * `answered`, `unanswered`: skipped, not an error, when the call is otherwise.
 */
export type VerbNeeds = 'nothing' | 'audio' | 'answered' | 'unanswered'

export interface VerbContext {
  /** Aborts on hang-up, redirect or replacement, and ends every wait of the verb. */
  readonly signal: AbortSignal
}

/** `failed`: it has not come to what it is for, and the journal says why already. */
export type VerbResult = 'failed' | void

/** One verb of an application, its options already checked. */
export interface RunnableVerb {
  readonly name: string
  /** Echoed as verb_id in its action hook. */
  readonly id?: string
  readonly needs: VerbNeeds
  readonly isEarlyMedia: boolean
  /** Properties it does not have, for the journal. */
  readonly ignored: readonly string[]
  /** Resolves when the verb is done. Throws AppError for what went wrong and leaves the call standing. */
  run(abilities: Abilities, context: VerbContext): Promise<VerbResult>
}

/** The verbs of a list in either notation. Throws hook_invalid_payload naming the verb and the field. */
export type ParseVerbs = (list: unknown) => readonly RunnableVerb[]
