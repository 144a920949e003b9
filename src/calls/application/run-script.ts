// An application runs a call: asks its hook for the first verbs, runs them and those that replace them.
import { AppError } from '../../lib/errors.ts'
import { createAbilities } from '../abilities/create-abilities.ts'
import { AppHooks, parseAppJson } from './app-hooks.ts'
import type { CallContext } from '../call-context.ts'
import type { CallServices } from '../call-services.ts'
import type { Leg } from '../leg/leg.ts'
import type { CallScript } from '../ports.ts'
import { toDecision } from '../journal/decision.ts'
import type { RunnableVerb } from '../verb.ts'
import { VerbLoop } from './verb-loop.ts'

export interface Run {
  readonly leg: Leg
  readonly script: CallScript
  /** What the call hook is asked. */
  readonly question: () => object
  /** The first verbs are there, and the call is still up. */
  readonly onAccepted?: () => void
}

/** Resolves when no verb is left or the call has ended. Throws AppError when there is no usable first answer. */
export async function runScript(run: Run, context: CallContext): Promise<void> {
  const { services } = context
  const { clock, log, speech, audio } = services
  const { leg, script } = run
  const { journal, signal } = leg
  const hooks = new AppHooks({
    account_sid: script.account_sid,
    hooks: services.hooks,
    parseVerbs: services.verbs,
    journal,
    clock,
    log,
  })
  // The voice starts while the application is asked.
  speech.warm()
  const { verbs, base } = await firstVerbs(run, hooks, services)
  if (leg.hasEnded) return
  run.onAccepted?.()
  const loop = new VerbLoop({ journal, clock, signal })
  const node = services.node()
  const abilities = createAbilities({ leg, script, hooks, queue: loop, speech, audio, clock, node, base })
  leg.script = abilities.hooks
  await loop.run(verbs, abilities)
}

async function firstVerbs(
  { leg, script, question }: Run,
  hooks: AppHooks,
  services: CallServices,
): Promise<{ readonly verbs: readonly RunnableVerb[]; readonly base: string | undefined }> {
  const { call_hook: hook, app_json } = script
  if (app_json !== null) {
    leg.journal.note(toDecision({ rule: 'app-json', outcome: 'app_json' }))
    const verbs = atLeastOne(parseAppJson(app_json, services.verbs), 'app_json of the application')
    return { verbs, base: hook?.url }
  }
  if (hook === null) throw new AppError('no_application', 'the application has no call hook')
  const payload = question()
  const { url, verbs, contentType } = await hooks.ask({ kind: 'call', hook, payload, signal: leg.signal })
  return { verbs: atLeastOne(verbs, `the call hook (${contentType})`), base: url }
}

function atLeastOne(verbs: readonly RunnableVerb[], source: string): readonly RunnableVerb[] {
  if (verbs.length === 0) throw new AppError('hook_invalid_payload', `${source} answered without verbs`)
  return verbs
}
