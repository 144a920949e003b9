// Questions to the application during a call: asks the hook, journals question and answer, reads the verbs.
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import type { Logger } from '../../lib/log.ts'
import { shownUrl } from '../../lib/shown-url.ts'
import type { HookKind } from '../journal/journal.ts'
import type { JournalWriter } from '../journal/journal-writer.ts'
import type { Hook, HookAnswer, Hooks } from '../../contracts/hook.ts'
import { toAppError, toProblem } from '../leg/refusals.ts'
import type { ParseVerbs, RunnableVerb } from '../verb.ts'

export interface Question {
  readonly kind: HookKind
  readonly hook: Hook
  readonly payload: object
  readonly signal: AbortSignal
}

export interface VerbsAnswer {
  /** The base of later relative hooks when these verbs become the application. */
  readonly url: string
  /** Empty when the answer carried none. */
  readonly verbs: readonly RunnableVerb[]
  readonly contentType: string
}

export interface AppHooksOptions {
  readonly account_sid: string
  readonly hooks: Hooks
  readonly parseVerbs: ParseVerbs
  readonly journal: JournalWriter
  readonly clock: Clock
  readonly log: Logger
}

export class AppHooks {
  readonly #options: AppHooksOptions

  constructor(options: AppHooksOptions) {
    this.#options = options
  }

  /** Throws AppError: hook_* of the exchange, or hook_invalid_payload when the answer is no list of verbs. */
  async ask(question: Question): Promise<VerbsAnswer> {
    const { kind, hook, payload, signal } = question
    const { journal, clock, hooks, account_sid } = this.#options
    const url = shownUrl(hook.url)
    journal.note({ type: 'hook-asked', hook: kind, method: hook.method, url })
    const started = clock.monotonic()
    try {
      const answer = await hooks.ask({ account_sid, hook, payload, signal })
      return this.#read(kind, answer)
    } catch (error) {
      const failure = toAppError(error, signal.aborted ? quiet : this.#options.log)
      const { code, sentence, cure } = signal.aborted ? withdrawn : toProblem(failure)
      const duration_ms = Math.round(clock.monotonic() - started)
      journal.note({
        type: 'hook-failed',
        hook: kind,
        url,
        ...statusOf(failure),
        duration_ms,
        code,
        sentence,
        cure,
      })
      throw failure
    }
  }

  #read(kind: HookKind, answer: HookAnswer): VerbsAnswer {
    const verbs = isEmpty(answer.body) ? [] : this.#options.parseVerbs(answer.body)
    this.#options.journal.note({
      type: 'hook-answered',
      hook: kind,
      url: shownUrl(answer.url),
      status: answer.status,
      duration_ms: Math.round(answer.durationMs),
      attempts: answer.attempts,
      verbs: verbs.map(({ name }) => name),
    })
    return { url: answer.url, verbs, contentType: answer.contentType ?? 'no content type' }
  }
}

const withdrawn = {
  code: 'withdrawn',
  sentence: 'the call ended, or other verbs took over, before the hook had answered',
  cure: 'Nothing is wrong with the hook; a faster answer would have been in time.',
} as const

/** When the end of the call cuts a question off, its failure means nothing, and is not logged. */
const quiet: Pick<Logger, 'error'> = { error: () => undefined }

function statusOf({ detail }: AppError): { status?: number } {
  return detail !== undefined && 'status' in detail && typeof detail.status === 'number'
    ? { status: detail.status }
    : {}
}

/** Frameworks answer `{}` where an application has nothing to say. */
function isEmpty(body: unknown): boolean {
  if (body === undefined || body === null) return true
  if (Array.isArray(body)) return body.length === 0
  return typeof body === 'object' && Object.keys(body).length === 0
}

/** The verbs of `app_json`; the same rules as for an answer over HTTP. */
export function parseAppJson(text: string, parseVerbs: ParseVerbs): readonly RunnableVerb[] {
  let list: unknown
  try {
    list = JSON.parse(text)
  } catch (error) {
    throw new AppError('hook_invalid_payload', 'app_json of the application is not JSON', { cause: error })
  }
  return parseVerbs(list)
}
