// Verbs on the other legs of a call, with abilities of their own.
import { createAbilities } from '../abilities/create-abilities.ts'
import type { Leg } from '../leg/leg.ts'
import { noteProblem } from '../leg/note-problem.ts'
import type { CallScript } from '../ports.ts'
import { demandAllowed } from '../application/allowed-verbs.ts'
import type { Application, VerbsAnswer } from '../application/application.ts'
import type { RunnableVerb } from '../verb/verb.ts'
import type { HookForm } from '../verb/hook-form.ts'
import type { NestedVerbs } from '../application/nested-verbs.ts'
import { noVerbLeft, VerbLoop } from './verb-loop.ts'
import type { ScriptNeeds } from './needs.ts'

interface LegRun {
  /** The answer whose server gets their hooks. Default: that of the call. */
  readonly answer?: VerbsAnswer
  readonly signal?: AbortSignal
  readonly allowed?: ReadonlySet<string>
}

export interface NestedVerbsOptions {
  readonly application: Application
  readonly needs: ScriptNeeds
  /** Runs a script on a leg until the leg ends. */
  readonly runOn: (leg: Leg, script: CallScript, adulting: HookForm | undefined) => void
}

export function createNestedVerbs({ application, needs, runOn }: NestedVerbsOptions): NestedVerbs {
  async function runOnLeg(leg: Leg, verbs: readonly RunnableVerb[], options: LegRun = {}): Promise<void> {
    const { answer, signal = leg.signal, allowed } = options
    const { clock } = needs
    const queue = new VerbLoop({ journal: leg.journal, clock, signal, ...(allowed && { allowed }) })
    const own = application.beside(answer)
    const abilities = createAbilities({ leg, application: own, queue, needs, nested })
    // Verbs may be replaced by others only if no set of allowed verbs restricts them.
    if (allowed === undefined) leg.session.run(leg, abilities.running)
    await queue.run(verbs, abilities)
  }

  const nested: NestedVerbs = {
    async run({ leg, hook, allowed, signal }) {
      const answer = await application.ask({ leg, hook, kind: 'confirm', signal })
      await runOnLeg(leg, answer.verbs, { answer, signal, allowed })
    },
    async prepare({ leg, hook, kind, fields, payload, allowed, signal }) {
      const instead = payload === undefined ? {} : { payload }
      const answer = await application.ask({ leg, hook, kind, fields, ...instead, signal })
      const { verbs } = answer
      if (verbs.length === 0 || signal.aborted) return undefined
      try {
        demandAllowed(verbs, allowed)
      } catch (error) {
        noteProblem(leg, error)
        return undefined
      }
      return () => runOnLeg(leg, verbs, { answer, signal, allowed })
    },
    beside({ leg, verbs: list, allowed, signal = leg.signal }) {
      const verbs = needs.verbs(Array.isArray(list) ? list : [list])
      demandAllowed(verbs, allowed)
      return () => runOnLeg(leg, verbs, { signal, allowed })
    },
    async ask(leg, hook, kind, fields) {
      return (await application.ask({ leg, hook, kind, fields, signal: leg.signal })).verbs
    },
    goOn(leg, verbs) {
      const former = leg.session
      const own = former.release(former.settings.current)
      // These verbs and the status of the leg use the sockets of the former session, which close when that is over.
      former.enter(own)
      own.onEmpty(() => former.leave(own))
      leg.moveTo(own)
      runOnLeg(leg, verbs).then(
        () => void leg.hangUp({ because: noVerbLeft }),
        (error: unknown) => leg.refuse(error),
      )
    },
    handOver(leg, hook) {
      const { call_hook, adulting } = application.successor(hook)
      leg.moveTo(leg.session.release())
      runOn(leg, { ...application.script, call_hook, app_json: null }, adulting)
    },
    async tell(leg, hook, fields) {
      const asked = application.ask({ leg, hook, kind: 'dtmf', fields, signal: leg.signal })
      await asked.catch(() => undefined)
    },
  }
  return nested
}
