// The run of a call by an application: sends its hook for the first verbs, runs them and those that replace them.
import { AppError } from '../../lib/errors.ts'
import type { LegHooksOptions } from '../abilities/hooks.ts'
import { createAbilities, type AbilitiesOptions } from '../abilities/create-abilities.ts'
import { readAppJson } from '../application/app-json.ts'
import type { Application } from '../application/application.ts'
import { createNestedVerbs } from './create-nested-verbs.ts'
import type { HookForm } from '../verb/hook-form.ts'
import type { MachineDetection } from '../verb/machine-detection.ts'
import { factsOf, noteFailure, unread } from '../application/http-application.ts'
import { shownUrl } from '../../lib/shown-url.ts'
import { RoutedApplication } from '../application/routed-application.ts'
import { hearFrames } from './run-frames.ts'
import { toCallHookPayload } from '../journal/hook-payloads.ts'
import type { Leg } from '../leg/leg.ts'
import { toAppError } from '../journal/refusals.ts'
import type { CallScript } from '../ports.ts'
import { toDecision } from '../journal/decision.ts'
import type { RunnableVerb } from '../verb/verb.ts'
import { noVerbLeft, VerbLoop } from './verb-loop.ts'
import type { ScriptNeeds } from './needs.ts'

export interface Run {
  readonly leg: Leg
  readonly script: CallScript
  /** Made from the script by default. */
  readonly application?: RoutedApplication
  /** Replaces the call hook of a leg that becomes a call of its own. */
  readonly adulting?: HookForm
  /** The payload of the call hook. */
  readonly question: () => object
  /** Called when the first verbs have come and the call is still up. */
  readonly onAccepted?: () => void
  /** Verbs of other names are left out. All run if this is not given. */
  readonly allowed?: ReadonlySet<string>
  /** Whether a machine has answered. It is heard while the call hook is out. */
  readonly machineDetection?: MachineDetection
}

/** Resolves when no verb is left or the call has ended. Throws AppError if there is no usable first answer. */
export async function runScript(run: Run, needs: ScriptNeeds): Promise<void> {
  const { leg, script, allowed } = run
  const application = run.application ?? new RoutedApplication({ leg, script, needs })
  // The speech engine starts while the hook is out.
  needs.speech.warm()
  let isUnwanted = false
  const queue = new VerbLoop({
    journal: leg.journal,
    clock: needs.clock,
    signal: leg.signal,
    ...(allowed && { allowed }),
    onVerb: (name) => {
      if (name !== 'hangup') leg.lastOther.forget()
    },
    onChange: (event) => application.tellVerb(event),
    onSkipped: (name) => {
      if (name === 'hangup') isUnwanted = true
    },
    // An application that wants to hang up before the answer declines the call, and will send no more verbs.
    staysWhenIdle: () => application.staysWhenIdle && (leg.isAnswered || !isUnwanted),
  })
  const onVerbEvent = (event: Readonly<Record<string, unknown>>): void => application.tellVerb(event)
  const abilities = abilitiesOf({ leg, application, queue, onVerbEvent }, needs)
  const hearer = hearFrames({ leg, application, queue, needs })
  application.hear(hearer)
  // The verbs of its hook would otherwise be replaced by those of the call hook.
  const { promise: started, resolve: start } = Promise.withResolvers<void>()
  if (run.machineDetection !== undefined) abilities.hearing.detect(run.machineDetection, { after: started })
  const verbs = await firstVerbs(run, application, needs).catch((error: unknown) => {
    application.giveUp(toAppError(error, leg.log).message)
    throw error
  })
  demandAllowed(verbs, allowed)
  if (leg.hasEnded) return
  run.onAccepted?.()
  leg.session.run(leg, abilities.running)
  const running = queue.run(verbs, abilities)
  start()
  hearer.start()
  await running
}

/** Runs an answered leg by another script than before. Never rejects. */
async function runToItsEnd(
  leg: Leg,
  script: CallScript,
  adulting: HookForm | undefined,
  needs: ScriptNeeds,
): Promise<void> {
  const node = needs.node()
  const question = (): object =>
    adulting === undefined
      ? toCallHookPayload({ facts: leg.journal.facts, script, node })
      : adultingPayload(leg, needs)
  const grown = adulting === undefined ? {} : { adulting }
  try {
    await runScript({ leg, script, question, ...grown }, needs)
    await leg.hangUp({ ...leg.lastOther.words, because: noVerbLeft })
  } catch (error) {
    leg.refuse(error)
  }
}

/** The abilities of the script that runs a call. */
export function abilitiesOf(
  options: LegHooksOptions & Pick<AbilitiesOptions, 'onVerbEvent'>,
  needs: ScriptNeeds,
): ReturnType<typeof createAbilities> {
  const { application } = options
  const runOn = (leg: Leg, successor: CallScript, adulting: HookForm | undefined): void =>
    void runToItsEnd(leg, successor, adulting, needs)
  const nested = createNestedVerbs({ application, needs, runOn })
  return createAbilities({ ...options, needs, nested })
}

/** Returns the facts of the leg and of the call that dialled it. */
function adultingPayload(leg: Leg, needs: ScriptNeeds): object {
  const { parent_call_sid, account_sid } = leg.journal.facts.started
  const parent =
    parent_call_sid === undefined ? undefined : needs.registry.liveLeg(account_sid, parent_call_sid)
  const about = parent === undefined ? {} : { parent_call_info: factsOf(parent, needs) }
  return { ...factsOf(leg, needs), ...about }
}

async function firstVerbs(
  { leg, script, question, adulting }: Run,
  application: Application,
  needs: ScriptNeeds,
): Promise<readonly RunnableVerb[]> {
  const { call_hook: hook, app_json } = script
  if (app_json !== null) {
    leg.journal.note(toDecision({ rule: 'app-json', outcome: 'app_json' }))
    const { account_sid } = script
    const verbs = await needs.readVerbs(readAppJson(app_json), { account_sid, signal: leg.signal })
    return atLeastOne(verbs, 'app_json of the application')
  }
  if (hook === null) throw new AppError('no_application', 'the application has no call hook')
  const { signal } = leg
  const asked =
    adulting === undefined
      ? ({ kind: 'call', hook } as const)
      : ({ kind: 'adulting', hook: adulting } as const)
  const answer = await application.ask({ ...asked, leg, payload: question(), signal })
  application.follow(answer)
  // An application over a socket may send the first verbs of a call that is up at any time.
  if (application.staysWhenIdle && leg.isAnswered) return answer.verbs
  if (answer.isUnread !== true && answer.verbs.length > 0) return answer.verbs
  const error =
    answer.isUnread === true
      ? unread('the call hook', answer.contentType)
      : withoutVerbs(`the call hook (${answer.contentType})`)
  // The HTTP exchange succeeded, but its answer is unusable. This failure raises the account's alert.
  throw noteFailure({ leg, kind: asked.kind, url: shownUrl(hook.url), signal, error, ms: 0 })
}

function demandAllowed(verbs: readonly RunnableVerb[], allowed: ReadonlySet<string> | undefined): void {
  if (allowed === undefined || verbs.length === 0 || verbs.some(({ name }) => allowed.has(name))) return
  throw new AppError(
    'hook_invalid_payload',
    `no verb of the answer may run here, where only these do: ${[...allowed].join(', ')}`,
  )
}

function atLeastOne(verbs: readonly RunnableVerb[], source: string): readonly RunnableVerb[] {
  if (verbs.length === 0) throw withoutVerbs(source)
  return verbs
}

function withoutVerbs(source: string): AppError {
  return new AppError('hook_invalid_payload', `${source} answered without verbs`)
}
