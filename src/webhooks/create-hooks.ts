// The hooks that a call waits for: asked within a budget, answered with JSON, with a code and a sentence for every
// failure.
import { actingFor } from '../lib/acting-for.ts'
import { sleep, type Clock } from '../lib/clock.ts'
import { AppError } from '../lib/errors.ts'
import { foreignJson, readJson, UnreadableJson } from '../lib/read-json.ts'
import { oneStep, type ThreadTime } from '../lib/bounds/thread-time.ts'
import { createSid } from '../lib/ids.ts'
import { textOf } from '../lib/members.ts'
import type { Logger } from '../lib/log.ts'
import { shownUrl } from '../lib/shown-url.ts'
import type { Outgoing, OutgoingAnswer } from '../outgoing/outgoing.ts'
import { toRequest } from './hook-request.ts'
import { isWorthRetrying, parseHookUrl, type HookUrl } from './hook-url.ts'
import type { HookAnswer, HookRequest, Hooks } from '../contracts/hook.ts'

export interface HookBudgets {
  /** The time limit for the headers of the answer, for one attempt. */
  readonly answerMs: number
  /** The time limit for the last byte, over all attempts and the waits between them. */
  readonly totalMs: number
  readonly maxAnswerBytes: number
}

export interface HooksOptions {
  readonly outgoing: Outgoing
  readonly signingSecret: (account_sid: string) => Promise<string | undefined>
  readonly clock: Clock
  readonly log: Logger
  readonly userAgent: string
  readonly threadTime: ThreadTime
  readonly budgets?: Partial<HookBudgets>
}

const defaultBudgets: HookBudgets = {
  answerMs: 10_000,
  totalMs: 20_000,
  maxAnswerBytes: foreignJson.maxLength,
}
const backOffMs = [500, 1000, 2000, 4000, 6000]

export function createHooks(options: HooksOptions): Hooks {
  const { outgoing, signingSecret, clock, log, userAgent, threadTime } = options
  const budgets = { ...defaultBudgets, ...options.budgets }

  async function attempt(request: HookRequest, target: HookUrl, message: Message): Promise<OutgoingAnswer> {
    const answer = await outgoing.request({
      ...toRequest({
        url: target.url,
        method: request.hook.method,
        credentials: request.hook,
        json: message.json,
        payload: () => request.payload,
        id: message.id,
        call_sid: textOf(request.payload, 'call_sid'),
        at: clock.now(),
        secret: message.secret,
        userAgent,
      }),
      subject: 'the hook',
      answerTimeoutMs: budgets.answerMs,
      totalTimeoutMs: Math.max(1, message.deadline - clock.monotonic()),
      maxBodyBytes: budgets.maxAnswerBytes,
      ...(request.signal && { signal: request.signal }),
    })
    if (![200, 202, 204].includes(answer.status)) throw badStatus(answer.status)
    return answer
  }

  async function ask(request: HookRequest): Promise<HookAnswer> {
    const started = clock.monotonic()
    const target = parseHookUrl(request.hook.url)
    const message: Message = {
      json: JSON.stringify(request.payload),
      id: `msg_${createSid()}`,
      secret: await signingSecret(request.account_sid),
      deadline: started + budgets.totalMs,
    }
    for (let attempts = 1; ; attempts++) {
      await threadTime.turn(request.account_sid, message.deadline - clock.monotonic(), request.signal)
      try {
        const answer = await attempt(request, target, message)
        const durationMs = Math.round(clock.monotonic() - started)
        const { status, headers } = answer
        const contentType = String(headers['content-type'] ?? 'no content type')
        const body = await threadTime.inTurn(
          request.account_sid,
          oneStep(() => parseBody(answer)),
          {
            maxMs: Math.max(0, message.deadline - clock.monotonic()),
            signal: request.signal,
          },
        )
        const read = { body, ...(isUnread(answer) && { isUnread: true }) }
        return { url: target.url, status, durationMs, attempts, contentType, ...read }
      } catch (error) {
        if (!(error instanceof AppError)) throw error
        const waitMs = backOffMs[attempts - 1] ?? 0
        const isOver = clock.monotonic() + waitMs >= message.deadline
        if (isOver || attempts > target.retry.retries || !isWorthRetrying(error, target.retry)) {
          const facts = {
            url: shownUrl(target.url),
            attempts,
            durationMs: Math.round(clock.monotonic() - started),
          }
          log.debug({ ...facts, account_sid: request.account_sid, code: error.code }, 'hook failed')
          throw withFacts(error, facts)
        }
        await sleep(waitMs, clock, request.signal)
        request.signal?.throwIfAborted()
      }
    }
  }

  return {
    // A hook may be asked while a packet from the network is handled, on behalf of no tenant; it still counts in the
    // account's share.
    ask: (request) => actingFor(request.account_sid, () => ask(request)),
  }
}

interface Message {
  readonly json: string
  readonly id: string
  readonly secret: string | undefined
  readonly deadline: number
}

/** Adds the facts of a failure that the journal shows: the URL, the attempts, the duration. */
function withFacts(error: AppError, facts: object): AppError {
  const detail = { ...error.detail, ...facts }
  return new AppError(error.code, error.message, { cause: error.cause, cure: error.cure, detail })
}

function badStatus(status: number): AppError {
  const detail = { status }
  if (status < 300 || status >= 400)
    return new AppError('hook_bad_status', `the hook answered with status ${status}`, { detail })
  return new AppError('hook_bad_status', `the hook answered with a redirect (status ${status})`, {
    detail,
    cure: 'Configure the URL that the redirect leads to: redirects are not followed.',
  })
}

/**
 * Reports whether the body looks like verbs under a content type other than JSON: a frequent mistake that the journal
 * should name.
 */
function isUnread(answer: OutgoingAnswer): boolean {
  if (saysJson(answer)) return false
  const text = answer.body.subarray(0, maxLookBytes).toString('utf8')
  return /^\uFEFF?\s*(\[\s*\{\s*"|\{\s*"verb")/.test(text)
}

const maxLookBytes = 256

function saysJson({ headers }: OutgoingAnswer): boolean {
  return String(headers['content-type'] ?? '')
    .toLowerCase()
    .includes('application/json')
}

/** Parses a body whose content type is JSON; any other answer counts as one without a body. */
function parseBody(answer: OutgoingAnswer): unknown {
  const { headers, body, status } = answer
  if (!saysJson(answer) || body.length === 0) return undefined
  const encoding = String(headers['content-encoding'] ?? 'identity').toLowerCase()
  if (encoding !== 'identity')
    throw new AppError(
      'hook_invalid_payload',
      `the hook answered in ${encoding.slice(0, 20)} encoding, which the request does not accept`,
      {
        detail: { status },
        cure: 'Answer without compression when the request says Accept-Encoding: identity.',
      },
    )
  try {
    return readJson(body)
  } catch (error) {
    if (!(error instanceof UnreadableJson)) throw error
    throw new AppError('hook_invalid_payload', `the hook answered with something that ${error.message}`, {
      cause: error,
      detail: { status },
    })
  }
}
