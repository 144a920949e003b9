// An application runs a call: asks its hook for the first verbs, runs them and those that replace them.
import { AppError } from '../../lib/errors.ts'
import type { LegHooksOptions } from '../abilities/hooks.ts'
import { createAbilities } from '../abilities/create-abilities.ts'
import { parseAppJson } from './app-json.ts'
import type { Application } from './application.ts'
import { createNestedVerbs } from './create-nested-verbs.ts'
import { forgetReason, reasonLeft } from '../bridge/leg-story.ts'
import { HttpApplication } from './http-application.ts'
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
  const application = new HttpApplication(script, services)
  // The voice starts while the application is asked.
  services.speech.warm()
  const verbs = await firstVerbs(run, application, services)
  if (leg.hasEnded) return
  run.onAccepted?.()
  const onVerb = (name: string): void => {
    if (name !== 'hangup') forgetReason(leg)
  }
  const queue = new VerbLoop({ journal: leg.journal, clock: services.clock, signal: leg.signal, onVerb })
  const abilities = abilitiesOf({ leg, application, queue }, context)
  leg.session.run(leg, abilities.running)
  await queue.run(verbs, abilities)
}

/** Runs an answered leg by another script than before. Never rejects. */
async function runToItsEnd(leg: Leg, script: CallScript, context: CallContext): Promise<void> {
  const node = context.services.node()
  const question = (): object => toCallHookPayload({ facts: leg.journal.facts, script, node })
  try {
    await runScript({ leg, script, question }, context)
    await leg.hangUp({ headers: reasonLeft(leg), because: noVerbLeft })
  } catch (error) {
    leg.refuse(error)
  }
}

/** The abilities of the script that runs a call. */
export function abilitiesOf(
  options: LegHooksOptions,
  context: CallContext,
): ReturnType<typeof createAbilities> {
  const { application } = options
  const runOn = (leg: Leg, successor: CallScript): void => void runToItsEnd(leg, successor, context)
  const nested = createNestedVerbs({ application, context, runOn })
  return createAbilities({ ...options, context, nested })
}

async function firstVerbs(
  { leg, script, question }: Run,
  application: Application,
  services: CallServices,
): Promise<readonly RunnableVerb[]> {
  const { call_hook: hook, app_json } = script
  if (app_json !== null) {
    leg.journal.note(toDecision({ rule: 'app-json', outcome: 'app_json' }))
    return atLeastOne(parseAppJson(app_json, services.verbs), 'app_json of the application')
  }
  if (hook === null) throw new AppError('no_application', 'the application has no call hook')
  const { signal } = leg
  const answer = await application.ask({ leg, kind: 'call', hook, payload: question(), signal })
  application.follow(answer)
  return atLeastOne(answer.verbs, `the call hook (${answer.contentType})`)
}

function atLeastOne(verbs: readonly RunnableVerb[], source: string): readonly RunnableVerb[] {
  if (verbs.length === 0) throw new AppError('hook_invalid_payload', `${source} answered without verbs`)
  return verbs
}
