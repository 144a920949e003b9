// The hooks of a running script: asks them with the facts of the call, and lets the verbs they answer take over.
import { AppError } from '../../lib/errors.ts'
import type { HookForm } from '../call.ts'
import { toCommonPayload, toNodePayload } from '../journal/hook-payloads.ts'
import type { NodeFacts } from '../journal/hook-payloads.ts'
import type { HookKind } from '../journal/journal.ts'
import type { Leg } from '../leg/leg.ts'
import type { CallScript } from '../ports.ts'
import type { RunnableVerb } from '../verb.ts'
import type { AppHooks } from './app-hooks.ts'
import { resolveUrl, toHook } from './hook-form.ts'
import type { Hook } from '../../contracts/hook.ts'

export interface ScriptHooksOptions {
  readonly leg: Leg
  readonly script: CallScript
  readonly hooks: AppHooks
  readonly node: NodeFacts
  /** Where relative hooks lead: the URL that the script came from. */
  readonly base: string | undefined
}

export interface HookQuestion {
  readonly kind: HookKind
  readonly hook: Hook
  /** What the verb adds to the facts of the call. */
  readonly fields: Readonly<Record<string, unknown>>
  readonly verb_id: string | undefined
  readonly signal: AbortSignal
  /** Called with the verbs that the hook answered, in the same turn as the last look at `signal`. */
  readonly take: (verbs: readonly RunnableVerb[]) => void
}

export class ScriptHooks {
  readonly #options: ScriptHooksOptions
  #base: string | undefined

  constructor(options: ScriptHooksOptions) {
    this.#options = options
    this.#base = options.base
  }

  resolveUrl(url: string): string {
    return resolveUrl(url, this.#base)
  }

  hookOf(form: HookForm): Hook {
    return toHook(form, { base: this.#base, application: this.#options.script.call_hook })
  }

  /** A hook that has nothing to say, that fails or that is withdrawn leaves the call as it was. */
  async ask({ kind, hook, fields, verb_id, signal, take }: HookQuestion): Promise<void> {
    const { leg, hooks, node } = this.#options
    if (leg.hasEnded || signal.aborted) return
    const payload = {
      ...toCommonPayload(leg.journal.facts),
      ...toNodePayload(leg.journal.facts, node),
      ...(verb_id === undefined ? {} : { verb_id }),
      ...fields,
    }
    try {
      const { url, verbs } = await hooks.ask({ kind, hook, payload, signal })
      if (verbs.length === 0 || signal.aborted) return
      this.#base = url
      take(verbs)
    } catch (error) {
      // The failure is in the journal already. The call goes on with the verb that follows.
      if (!(error instanceof AppError)) throw error
      if (error.code === 'hook_invalid_payload' && !leg.hasEnded) leg.status.reportInvalidPayload(error)
    }
  }
}
