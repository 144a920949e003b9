// Runs verbs on the other legs of a call, with abilities of their own.
import { toCommonPayload, toNodePayload } from '../journal/hook-payloads.ts'
import { createAbilities } from '../abilities/create-abilities.ts'
import type { CallContext } from '../call-context.ts'
import type { Hook } from '../../contracts/hook.ts'
import type { Leg } from '../leg/leg.ts'
import { noteProblem } from '../leg/note-problem.ts'
import type { CallScript } from '../ports.ts'
import type { HookKind } from '../journal/journal.ts'
import { demandAllowed } from './allowed-verbs.ts'
import { AppHooks } from './app-hooks.ts'
import type { VerbsAnswer } from './app-hooks.ts'
import type { HookForm } from './hook-form.ts'
import type { RunnableVerb } from '../verb.ts'
import type { NestedVerbs } from './nested-verbs.ts'
import { noVerbLeft, VerbLoop } from './verb-loop.ts'

interface Asked {
  readonly leg: Leg
  readonly hook: HookForm
  readonly kind: HookKind
  /** Beside the facts of the leg. */
  readonly fields?: object
  readonly signal?: AbortSignal
}

interface LegRun {
  /** Where relative hooks lead; by default as for the verbs of the call. */
  readonly base?: string
  readonly signal?: AbortSignal
  readonly allowed?: ReadonlySet<string>
}

export interface NestedVerbsOptions {
  readonly script: CallScript
  readonly context: CallContext
  /** Completes a hook as the verbs of the call do. */
  readonly hookOf: (form: HookForm) => Hook
  /** Lets a script run a leg to its end. */
  readonly runOn: (leg: Leg, script: CallScript) => void
}

export function createNestedVerbs({ script, context, hookOf, runOn }: NestedVerbsOptions): NestedVerbs {
  const { services } = context

  /** The journal of the leg has the question, and a failure too. */
  function ask(asked: Asked): Promise<VerbsAnswer> {
    const { leg, hook, kind, fields = {}, signal = leg.signal } = asked
    const { facts } = leg.journal
    const payload = { ...toCommonPayload(facts), ...toNodePayload(facts, services.node()), ...fields }
    return appHooksOf(leg, script, context).ask({ kind, hook: hookOf(hook), payload, signal })
  }

  async function runOnLeg(leg: Leg, verbs: readonly RunnableVerb[], options: LegRun = {}): Promise<void> {
    const { base = hookOf('/').url, signal = leg.signal, allowed } = options
    const hooks = appHooksOf(leg, script, context)
    const { clock } = services
    const queue = new VerbLoop({ journal: leg.journal, clock, signal, ...(allowed && { allowed }) })
    const node = services.node()
    const abilities = createAbilities({ leg, script, hooks, queue, node, base, context, nested })
    // Only verbs that are all the leg has may be taken over by others.
    if (allowed === undefined) leg.session.run(leg, abilities.running)
    await queue.run(verbs, abilities)
  }

  const nested: NestedVerbs = {
    async run({ leg, hook, allowed, signal }) {
      const { url, verbs } = await ask({ leg, hook, kind: 'confirm', signal })
      await runOnLeg(leg, verbs, { base: url, signal, allowed })
    },
    async prepare({ leg, hook, kind, fields, allowed, signal }) {
      const { url, verbs } = await ask({ leg, hook, kind, fields, signal })
      if (verbs.length === 0 || signal.aborted) return undefined
      try {
        demandAllowed(verbs, allowed)
      } catch (error) {
        noteProblem(leg, error)
        return undefined
      }
      return () => runOnLeg(leg, verbs, { base: url, signal, allowed })
    },
    beside({ leg, verbs: list, allowed, signal = leg.signal }) {
      const verbs = services.verbs(Array.isArray(list) ? list : [list])
      demandAllowed(verbs, allowed)
      return () => runOnLeg(leg, verbs, { signal, allowed })
    },
    async ask(leg, hook, kind, fields) {
      return (await ask({ leg, hook, kind, fields })).verbs
    },
    goOn(leg, verbs) {
      leg.session = leg.session.release(leg.session.settings.current)
      runOnLeg(leg, verbs).then(
        () => void leg.hangUp({ because: noVerbLeft }),
        (error: unknown) => leg.refuse(error),
      )
    },
    handOver(leg, hook) {
      leg.session = leg.session.release()
      runOn(leg, { ...script, call_hook: hook, app_json: null })
    },
    async tell(leg, hook, fields) {
      await ask({ leg, hook, kind: 'dtmf', fields }).catch(() => undefined)
    },
  }
  return nested
}

/** The questions about one leg go into the journal of that leg. */
export function appHooksOf({ journal }: Leg, script: CallScript, { services }: CallContext): AppHooks {
  const { hooks, verbs, clock, log } = services
  return new AppHooks({ account_sid: script.account_sid, hooks, parseVerbs: verbs, journal, clock, log })
}
