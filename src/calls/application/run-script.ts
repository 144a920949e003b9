// An application runs a call: asks its hook for the first verbs, runs them and those that replace them.
import { AppError } from '../../lib/errors.ts'
import type { LegHooksOptions } from '../abilities/hooks.ts'
import { createAbilities } from '../abilities/create-abilities.ts'
import { parseAppJson } from './app-hooks.ts'
import type { AppHooks } from './app-hooks.ts'
import { appHooksOf, createNestedVerbs } from './create-nested-verbs.ts'
import type { CallContext } from '../call-context.ts'
import type { CallServices } from '../call-services.ts'
import { toCallHookPayload } from '../journal/hook-payloads.ts'
import type { Leg } from '../leg/leg.ts'
import type { CallScript } from '../ports.ts'
import { toDecision } from '../journal/decision.ts'
import type { RunnableVerb } from '../verb.ts'
import { noVerbLeft, VerbLoop } from './verb-loop.ts'

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
  const { leg, script } = run
  const hooks = appHooksOf(leg, script, context)
  // The voice starts while the application is asked.
  services.speech.warm()
  const { verbs, base } = await firstVerbs(run, hooks, services)
  if (leg.hasEnded) return
  run.onAccepted?.()
  const queue = new VerbLoop({ journal: leg.journal, clock: services.clock, signal: leg.signal })
  const abilities = abilitiesOf({ leg, script, hooks, queue, node: services.node(), base }, context)
  leg.session.run(leg, abilities.running)
  await queue.run(verbs, abilities)
}

/** Runs an answered leg by another script than before. Never rejects. */
async function runToItsEnd(leg: Leg, script: CallScript, context: CallContext): Promise<void> {
  const node = context.services.node()
  const question = (): object => toCallHookPayload({ facts: leg.journal.facts, script, node })
  try {
    await runScript({ leg, script, question }, context)
    await leg.hangUp({ because: noVerbLeft })
  } catch (error) {
    leg.refuse(error)
  }
}

/** The abilities of the script that runs a call. */
export function abilitiesOf(
  options: LegHooksOptions,
  context: CallContext,
): ReturnType<typeof createAbilities> {
  const { script } = options
  const nested = createNestedVerbs({
    script,
    context,
    hookOf: (form) => abilities.hooks.hookOf(form),
    runOn: (leg, successor) => void runToItsEnd(leg, successor, context),
  })
  const abilities = createAbilities({ ...options, context, nested })
  return abilities
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
