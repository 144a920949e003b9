// The ability to call hooks of the application: they receive the facts of the call, and the verbs in their answers run.
import { sleep, type Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import { Pace } from '../../lib/bounds/pace.ts'
import type { HookKind } from '../journal/journal.ts'
import type { Leg } from '../leg/leg.ts'
import { hangUpFor } from '../leg/hang-up-for.ts'
import { failureHeaders, toRefusal } from '../journal/refusals.ts'
import { noteProblem } from '../leg/note-problem.ts'
import type { RunnableVerb } from '../verb/verb.ts'
import type { Asking, Redirect } from '../verb/abilities.ts'
import type { HookWait } from './hook-wait.ts'
import type { WaitWishes } from '../verb/settings.ts'
import { stopped } from '../session/stop.ts'
import type { Application } from '../application/application.ts'
import type { HookForm } from '../verb/hook-form.ts'

/**
 * The verbs of a leg. `replace` leaves the running verb alone, `interrupt` ends it. `current` is the running verb.
 * `awaitMore` lets the leg wait when no verb is left, until the returned function is called.
 */
export interface VerbQueue {
  replace(verbs: readonly RunnableVerb[]): void
  interrupt(verbs: readonly RunnableVerb[], because: string): void
  awaitMore(): () => void
  readonly current: Pick<RunnableVerb, 'id' | 'name'> | undefined
}

export interface LegHooksOptions {
  readonly leg: Leg
  readonly application: Application
  readonly queue: VerbQueue
}

interface OwnOptions extends LegHooksOptions {
  readonly clock: Clock
  /** A function, because the wait is made after this: its voice depends on the URLs that are resolved here. */
  readonly wait: () => HookWait
  /** Returns the facts about the call that every hook is sent. */
  readonly facts: () => object
}

interface Question {
  readonly kind: HookKind
  readonly hook: HookForm
  /** The fields that the verb adds to the facts of the call. */
  readonly fields: Readonly<Record<string, unknown>>
  readonly signal: AbortSignal
  /** Called with the verbs of the answer, in the same turn as the check of `signal`. Returns whether they are used. */
  readonly take: (verbs: readonly RunnableVerb[]) => boolean
}

/** The rate limit for an application that only redirects, or dials and fails. */
const hookPace = { burst: 60, perSecond: 5 }

const noAnswer = 'the action hook has not answered in time: it is given up by actionHookDelayAction'
const silent = 'the application does not answer'
/** The X-Reason of the BYE, which equipment of existing installations reads. */
const gaveUp = 'bot-action-delay-giveup'
const tooLate = 'the answer of the action hook comes too late, and is dropped'

export class LegHooks implements Asking {
  readonly #options: OwnOptions
  readonly #pace: Pace
  #takingOver = new AbortController()

  constructor(options: OwnOptions) {
    this.#options = options
    this.#pace = new Pace({ ...hookPace, clock: options.clock })
  }

  async ask(
    form: HookForm,
    fields: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
    wishes: WaitWishes = {},
  ): Promise<void> {
    const { leg, queue, wait } = this.#options
    let isLate = false
    const take = (verbs: readonly RunnableVerb[]): boolean => {
      if (isLate) leg.journal.note({ type: 'note', sentence: tooLate })
      else queue.replace(verbs)
      return !isLate
    }
    // The verb is over when the hook is given up. After that only the end of the call aborts the request.
    const withCall = AbortSignal.any([signal, leg.signal])
    const asked = this.#replaceBy({ kind: 'action', hook: form, fields, signal: withCall, take })
    const givenUp = await wait().until(asked, wishes, signal)
    if (givenUp === undefined || signal.aborted) return
    isLate = true
    asked.catch((error: unknown) => noteProblem(leg, error))
    leg.journal.note({ type: 'note', sentence: noAnswer })
    if (givenUp.length > 0) queue.replace(givenUp)
    else void hangUpFor(leg, new AppError('hook_timeout', silent), { reason: gaveUp, because: silent })
  }

  async tell(form: HookForm, fields: Readonly<Record<string, unknown>>): Promise<void> {
    const { leg } = this.#options
    const question = { kind: 'action', hook: form, fields, signal: leg.signal, take: () => false } as const
    await this.#ask(question).catch((error: unknown) => noteProblem(leg, error))
  }

  async report(form: HookForm, fields: Readonly<Record<string, unknown>>): Promise<void> {
    const { leg, application, queue, facts } = this.#options
    if (!leg.hasEnded) return this.tell(form, fields)
    const verb_id = queue.current?.id
    const payload = { ...facts(), ...(verb_id === undefined ? {} : { verb_id }), ...fields }
    // An application over WebSocket is not reached any more: its socket was sent the end of the call, and closed.
    await application.tell({ leg, hook: form, payload }).catch(() => undefined)
  }

  async event(form: HookForm, fields: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<void> {
    const { leg, queue } = this.#options
    const take = (verbs: readonly RunnableVerb[]): boolean => {
      queue.interrupt(verbs, 'an event hook answered with other verbs')
      return true
    }
    const settled = queue.awaitMore()
    const asked = this.#replaceBy({ kind: 'event', hook: form, fields, signal, take })
    await asked.catch((error: unknown) => noteProblem(leg, error)).finally(settled)
  }

  async redirect({ hook, statusHook, signal }: Redirect): Promise<void> {
    const { leg, application } = this.#options
    if (statusHook !== undefined) leg.status.replaceHook(application.hookOf(statusHook))
    const take = (verbs: readonly RunnableVerb[]): boolean => {
      this.#options.queue.replace(verbs)
      return true
    }
    await this.#replaceBy({ kind: 'redirect', hook, fields: {}, signal, take })
  }

  /** Resolves with whether the verbs of the hook run now. */
  async takeOver(hook: HookForm, because: string): Promise<boolean> {
    const { leg, queue } = this.#options
    let hasTaken = false
    const take = (verbs: readonly RunnableVerb[]): boolean => {
      queue.interrupt(verbs, because)
      hasTaken = true
      return true
    }
    // Of two requests at the same time the later one counts, even if the earlier is answered last.
    this.#takingOver.abort(stopped('replaced'))
    this.#takingOver = new AbortController()
    const signal = AbortSignal.any([leg.signal, this.#takingOver.signal])
    const settled = queue.awaitMore()
    await this.#ask({ kind: 'redirect', hook, fields: {}, signal, take }).finally(settled)
    return hasTaken
  }

  interrupt(verbs: readonly RunnableVerb[], because: string): void {
    this.#options.queue.interrupt(verbs, because)
  }

  /** Lets the leg wait when no verb is left, until the returned function is called. */
  awaitMore(): () => void {
    return this.#options.queue.awaitMore()
  }

  async #replaceBy(question: Question): Promise<void> {
    const waitMs = this.#pace.take()
    if (waitMs > 0) await sleep(waitMs, this.#options.clock, question.signal)
    await this.#ask(question)
  }

  /** Calls a hook. An answer without verbs, a failure or an abort leaves the call as it was. */
  async #ask({ kind, hook, fields, signal, take }: Question): Promise<void> {
    const { leg, application, queue } = this.#options
    if (leg.hasEnded || signal.aborted) return
    const verb_id = queue.current?.id
    const all = { ...(verb_id === undefined ? {} : { verb_id }), ...fields }
    try {
      const answer = await application.ask({ leg, kind, hook, fields: all, signal })
      if (answer.verbs.length === 0 || signal.aborted) return
      if (take(answer.verbs)) application.follow(answer)
    } catch (error) {
      // The failure is already in the journal. The call continues with the next verb.
      if (!(error instanceof AppError)) throw error
      if (leg.lastOther.reasons.length === 0) leg.lastOther.hasEnded(failureHeaders(toRefusal(error).fact))
      if (error.code === 'hook_invalid_payload' && !leg.hasEnded) leg.status.reportInvalidPayload(error)
    }
  }
}
