// One attempt to deliver one notification, and what its outcome means: delivered, again later, or never.
import type { Clock } from '../lib/clock.ts'
import { AppError } from '../lib/errors.ts'
import type { Logger } from '../lib/log.ts'
import type { Outgoing, OutgoingAnswer } from '../lib/outgoing.ts'
import { toRequest } from './hook-request.ts'
import { parseHookUrl } from './hook-url.ts'
import type { Outcome, OutboxItem } from './outbox.ts'
import { nextAttemptAt, retryAfterMs } from './retry-schedule.ts'

export interface SenderOptions {
  readonly outgoing: Outgoing
  readonly signingSecret: (account_sid: string) => Promise<string | undefined>
  readonly clock: Clock
  readonly log: Logger
  readonly userAgent?: string
  readonly answerTimeoutMs?: number
  readonly random?: () => number
}

export function createSender(
  options: SenderOptions,
): (item: OutboxItem, signal: AbortSignal) => Promise<Outcome> {
  const { outgoing, signingSecret, clock, log, random = Math.random } = options
  const { userAgent = 'switchhook', answerTimeoutMs = 10_000 } = options

  async function post(item: OutboxItem, signal: AbortSignal): Promise<OutgoingAnswer> {
    const { headers, ...request } = toRequest({
      url: parseHookUrl(item.hook.url).url,
      method: item.hook.method,
      credentials: item.hook,
      json: item.payload,
      payload: () => JSON.parse(item.payload),
      id: `msg_${item.call_sid}_${item.sequence}`,
      at: clock.now(),
      secret: await signingSecret(item.account_sid),
      userAgent,
    })
    return outgoing.request({
      ...request,
      headers: { ...headers, 'webhook-sequence': String(item.sequence) },
      subject: 'the hook',
      answerTimeoutMs,
      totalTimeoutMs: answerTimeoutMs,
      maxBodyBytes: 0,
      answerBody: 'discard',
      signal,
    })
  }

  function retry(item: OutboxItem, error: string, patienceMs?: number): Outcome {
    const { id, call_sid, attempts, created_at } = item
    const failure = { attempts, created_at, now: clock.now(), retryAfterMs: patienceMs, random: random() }
    const at = nextAttemptAt(failure)
    if (at === undefined) return abandon(item, error)
    log.debug({ call_sid, attempts: attempts + 1, at, error }, 'notification failed')
    return { id, outcome: 'retry', at, error }
  }

  function abandon({ id, call_sid, account_sid, attempts }: OutboxItem, error: string): Outcome {
    log.warn({ call_sid, account_sid, attempts: attempts + 1, error }, 'notification abandoned')
    return { id, outcome: 'abandoned', error }
  }

  return async (item, signal) => {
    const started = clock.monotonic()
    try {
      const answer = await post(item, signal)
      const { status } = answer
      // Any 2xx is taken: unlike the hook of a call, a notification has no answer that could be misread.
      if (status >= 200 && status < 300)
        return {
          id: item.id,
          outcome: 'delivered',
          status,
          durationMs: Math.round(clock.monotonic() - started),
        }
      const error = `the hook answered with status ${status}`
      // 410 is how a receiver says that it will not come back (RFC 9110 §15.5.11).
      return status === 410 ? abandon(item, error) : retry(item, error, retryAfterMs(answer, clock.now()))
    } catch (error) {
      if (error instanceof AppError && error.code === 'hook_bad_url') return abandon(item, error.message)
      if (error instanceof AppError) return retry(item, error.message)
      if (!signal.aborted) log.error({ err: error, call_sid: item.call_sid }, 'notification cannot be sent')
      return retry(item, 'the platform could not send the request')
    }
  }
}
