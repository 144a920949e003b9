// An application over HTTP: sends its hooks, writes question and answer to the journal, and reads the verbs.
import { AppError } from '../../lib/errors.ts'
import type { Logger } from '../../lib/log.ts'
import { shownUrl } from '../../lib/shown-url.ts'
import type { Hook, HookAnswer } from '../../contracts/hook.ts'
import { toCommonPayload, toNodePayload } from '../journal/hook-payloads.ts'
import type { Leg } from '../leg/leg.ts'
import { noteProblem } from '../leg/note-problem.ts'
import { toAppError, toProblem } from '../journal/refusals.ts'
import type { CallScript } from '../ports.ts'
import type { Answerer, Notice, Question, VerbsAnswer } from './application.ts'
import { resolveUrl, toHook, type HookForm } from '../verb/hook-form.ts'
import type { ApplicationNeeds } from './needs.ts'

export class HttpApplication implements Answerer {
  readonly script: CallScript
  readonly #needs: ApplicationNeeds
  readonly #base: string | undefined

  /**
   * `base` is the URL that its verbs came from. It is undefined if they came from app_json and there is no call hook.
   */
  constructor(script: CallScript, needs: ApplicationNeeds, base: string | undefined = script.call_hook?.url) {
    this.script = script
    this.#needs = needs
    this.#base = base
  }

  async ask({ leg, kind, hook: form, fields, payload, signal }: Question): Promise<VerbsAnswer> {
    const { journal } = leg
    const { clock, hooks } = this.#needs
    const hook = this.hookOf(form)
    const url = shownUrl(hook.url)
    journal.note({ type: 'hook-asked', hook: kind, method: hook.method, url })
    const started = clock.monotonic()
    try {
      const { account_sid } = this.script
      const facts = payload ?? { ...factsOf(leg, this.#needs), ...fields }
      return await this.#read(
        { leg, kind, signal },
        await hooks.ask({ account_sid, hook, payload: facts, signal }),
      )
    } catch (error) {
      throw noteFailure({ leg, kind, url, signal, error, ms: clock.monotonic() - started })
    }
  }

  async tell({ hook, payload }: Notice): Promise<void> {
    const { account_sid } = this.script
    await this.#needs.hooks.ask({ account_sid, hook: this.hookOf(hook), payload })
  }

  resolveUrl(url: string): string {
    return resolveUrl(url, this.#base)
  }

  hookOf(form: HookForm): Hook {
    return toHook(form, { base: this.#base, application: this.script.call_hook })
  }

  async #read(
    { leg, kind, signal }: Pick<Question, 'leg' | 'kind' | 'signal'>,
    answer: HookAnswer,
  ): Promise<VerbsAnswer> {
    const { account_sid } = this.script
    const verbs = isEmpty(answer.body)
      ? []
      : await this.#needs.readVerbs(answer.body, { account_sid, signal })
    leg.journal.note({
      type: 'hook-answered',
      hook: kind,
      url: shownUrl(answer.url),
      status: answer.status,
      duration_ms: Math.round(answer.durationMs),
      attempts: answer.attempts,
      verbs: verbs.map(({ name }) => name),
    })
    const by = new HttpApplication(this.script, this.#needs, answer.url)
    const { contentType = 'no content type', isUnread = false } = answer
    // An unread answer of the call hook refuses the call. For others, this explains why nothing changed.
    if (isUnread && kind !== 'call' && kind !== 'adulting')
      noteProblem(leg, unread(`the ${kind} hook`, contentType))
    return { by, verbs, contentType, isUnread }
  }
}

/** Returns the error for verbs that came with a content type other than JSON. */
export function unread(subject: string, contentType: string): AppError {
  return new AppError(
    'hook_invalid_payload',
    `${subject} answered with verbs as ${contentType}, which is not read`,
    {
      cure: 'Send Content-Type: application/json with the answer.',
    },
  )
}

/** Returns the facts of a leg that every hook gets. */
export function factsOf({ journal: { facts } }: Leg, needs: Pick<ApplicationNeeds, 'node'>): object {
  return { ...toCommonPayload(facts), ...toNodePayload(facts, needs.node()) }
}

interface Failure extends Pick<Question, 'leg' | 'kind' | 'signal'> {
  readonly url: string
  readonly error: unknown
  readonly ms: number
}

/** Writes the failure of a hook to the journal, and returns it. */
export function noteFailure({ leg: { journal, log }, kind, url, signal, error, ms }: Failure): AppError {
  const failure = toAppError(error, signal.aborted ? quiet : log)
  const { code, sentence, cure } = signal.aborted ? withdrawn : toProblem(failure)
  const more = { ...statusOf(failure), duration_ms: Math.round(ms) }
  journal.note({ type: 'hook-failed', hook: kind, url, ...more, code, sentence, cure })
  return failure
}

const withdrawn = {
  code: 'withdrawn',
  sentence: 'the call ended, or other verbs took over, before the hook had answered',
  cure: 'Nothing is wrong with the hook; a faster answer would have been in time.',
} as const

/** A question that the end of the call cuts off is not an error, and is not logged. */
const quiet: Pick<Logger, 'error'> = { error: () => undefined }

function statusOf({ detail }: AppError): { status?: number } {
  return detail !== undefined && 'status' in detail && typeof detail.status === 'number'
    ? { status: detail.status }
    : {}
}

/** Returns true for `{}` too, which frameworks send for an empty answer. */
export function isEmpty(body: unknown): boolean {
  if (body === undefined || body === null) return true
  if (Array.isArray(body)) return body.length === 0
  return typeof body === 'object' && Object.keys(body).length === 0
}
