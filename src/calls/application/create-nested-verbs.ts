// Runs verbs on the other legs of a call, with abilities of their own.
import { toCommonPayload, toNodePayload } from '../journal/hook-payloads.ts'
import { AppError } from '../../lib/errors.ts'
import { createAbilities } from '../abilities/create-abilities.ts'
import type { CallContext } from '../call-context.ts'
import type { Hook } from '../../contracts/hook.ts'
import type { Leg } from '../leg/leg.ts'
import type { CallScript } from '../ports.ts'
import { AppHooks } from './app-hooks.ts'
import type { HookForm } from './hook-form.ts'
import type { NestedVerbs } from './nested-verbs.ts'
import { VerbLoop } from './verb-loop.ts'

export interface NestedVerbsOptions {
  readonly script: CallScript
  readonly context: CallContext
  /** Completes a hook as the verbs of the call do. */
  readonly hookOf: (form: HookForm) => Hook
  /** Lets a script run a leg to its end. */
  readonly runOn: (leg: Leg, script: CallScript) => void
}

const whispering: ReadonlySet<string> = new Set(['say', 'play', 'pause'])

export function createNestedVerbs({ script, context, hookOf, runOn }: NestedVerbsOptions): NestedVerbs {
  const { services } = context
  const payloadOf = ({ journal }: Leg): object => ({
    ...toCommonPayload(journal.facts),
    ...toNodePayload(journal.facts, services.node()),
  })
  const nested: NestedVerbs = {
    async run({ leg, hook, allowed, signal }) {
      const hooks = appHooksOf(leg, script, context)
      const question = { kind: 'confirm', hook: hookOf(hook), payload: payloadOf(leg), signal } as const
      const { url: base, verbs } = await hooks.ask(question)
      const queue = new VerbLoop({ journal: leg.journal, clock: services.clock, signal, allowed })
      const node = services.node()
      await queue.run(verbs, createAbilities({ leg, script, hooks, queue, node, base, context, nested }))
    },
    whisper({ leg, verbs: list, signal }) {
      const verbs = services.verbs(Array.isArray(list) ? list : [list])
      verbs.forEach(({ name }, index) => {
        if (!whispering.has(name))
          throw new AppError(
            'hook_invalid_payload',
            `verb ${index + 1} (${name}): only say, play and pause may be whispered`,
          )
      })
      const hooks = appHooksOf(leg, script, context)
      const { clock } = services
      const queue = new VerbLoop({ journal: leg.journal, clock, signal, allowed: whispering })
      const node = services.node()
      const base = hookOf('/').url
      return queue.run(verbs, createAbilities({ leg, script, hooks, queue, node, base, context, nested }))
    },
    handOver: (leg, hook) => runOn(leg, { ...script, call_hook: hook, app_json: null }),
    async tell(leg, hook, fields) {
      const hooks = appHooksOf(leg, script, context)
      const payload = { ...payloadOf(leg), ...fields }
      // A failure is in the journal already.
      await hooks
        .ask({ kind: 'dtmf', hook: hookOf(hook), payload, signal: leg.signal })
        .catch(() => undefined)
    },
  }
  return nested
}

/** The questions about one leg go into the journal of that leg. */
export function appHooksOf({ journal }: Leg, script: CallScript, { services }: CallContext): AppHooks {
  const { hooks, verbs, clock, log } = services
  return new AppHooks({ account_sid: script.account_sid, hooks, parseVerbs: verbs, journal, clock, log })
}
