// One attempt to deliver one notification, and the meaning of its outcome: delivered, again later, or never.
import { actingFor } from '../lib/acting-for.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError } from '../lib/errors.ts'
import type { Logger } from '../lib/log.ts'
import type { Outgoing, OutgoingAnswer } from '../outgoing/outgoing.ts'
import { hookAlertType, type Alerts, type HookFailure } from '../contracts/alert.ts'
import { shownUrl } from '../lib/shown-url.ts'
import type { AppSockets } from '../contracts/app-socket.ts'
import { toRequest, traceOf } from './hook-request.ts'
import { isSocketUrl, parseHookUrl } from './hook-url.ts'
import type { OutboxItem, Settlement } from '../contracts/outbox.ts'
import { nextAttemptAt, retryAfterMs } from './retry-schedule.ts'

export interface SenderOptions {
  readonly outgoing: Outgoing
  /** The sockets for hooks that are WebSocket URLs. */
  readonly appSockets: AppSockets
  readonly signingSecret: (account_sid: string) => Promise<string | undefined>
  readonly clock: Clock
  readonly log: Logger
  readonly userAgent?: string
  readonly answerTimeoutMs?: number
  readonly random?: () => number
  /** Raises an alert at the first failure of each notification, and when it is given up. */
  readonly alerts?: Alerts
}

interface Answered {
  readonly status: number
  readonly isTaken: boolean
  /** The wait that the receiver requests. */
  readonly patienceMs?: number | undefined
}

interface Failure extends HookFailure {
  readonly sentence: string
}

export function createSender(
  options: SenderOptions,
): (item: OutboxItem, signal: AbortSignal) => Promise<Settlement> {
  const { outgoing, signingSecret, clock, log, random = Math.random } = options
  const { userAgent = 'switchhook', answerTimeoutMs = 10_000 } = options

  /** Sends the notification over a new socket: the call and its socket have ended. */
  async function tell(item: OutboxItem, signal: AbortSignal): Promise<Answered> {
    const { account_sid, call_sid, sequence, hook, payload } = item
    const socket = await options.appSockets.open({
      account_sid,
      hook,
      isRetried: false,
      heard: () => undefined,
      closed: () => undefined,
      signal,
    })
    const data: unknown = JSON.parse(payload)
    const msgid = `msg_${call_sid}_${sequence}`
    socket.send(JSON.stringify({ type: 'call:status', msgid, call_sid, data, ...traceOf(call_sid, msgid) }))
    socket.close(1000, 'told')
    return { status: 101, isTaken: true }
  }

  async function deliver(item: OutboxItem, signal: AbortSignal): Promise<Answered> {
    if (isSocketUrl(item.hook.url)) return await tell(item, signal)
    const answer = await post(item, signal)
    const { status } = answer
    // Any 2xx counts as delivered: unlike the hook of a call, a notification has no answer that could be misread.
    return { status, isTaken: status >= 200 && status < 300, patienceMs: retryAfterMs(answer, clock.now()) }
  }

  async function post(item: OutboxItem, signal: AbortSignal): Promise<OutgoingAnswer> {
    const { headers, ...request } = toRequest({
      url: parseHookUrl(item.hook.url).url,
      method: item.hook.method,
      credentials: item.hook,
      json: item.payload,
      payload: () => JSON.parse(item.payload),
      id: `msg_${item.call_sid}_${item.sequence}`,
      call_sid: item.call_sid,
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

  function retry(item: OutboxItem, failure: Failure, patienceMs?: number): Settlement {
    const { id, call_sid, attempts, created_at } = item
    const now = clock.now()
    const at = nextAttemptAt({ attempts, created_at, now, retryAfterMs: patienceMs, random: random() })
    if (at === undefined) return abandon(item, failure)
    const { sentence: error } = failure
    log.debug({ call_sid, attempts: attempts + 1, at, error }, 'notification failed')
    if (attempts === 0) warn(item, failure, error)
    return { id, outcome: 'retry', at, error }
  }

  function abandon(item: OutboxItem, failure: Failure): Settlement {
    const { id, call_sid, account_sid, attempts } = item
    const { sentence: error } = failure
    log.warn({ call_sid, account_sid, attempts: attempts + 1, error }, 'notification abandoned')
    warn(item, failure, `${error}; the notification was given up after attempt ${attempts + 1}`)
    return { id, outcome: 'abandoned', error }
  }

  function warn({ account_sid, call_sid, hook }: OutboxItem, failure: Failure, message: string): void {
    options.alerts?.raise({
      account_sid,
      call_sid,
      alert_type: hookAlertType(failure),
      message,
      detail: shownUrl(hook.url),
    })
  }

  return async (item, signal) => {
    const started = clock.monotonic()
    try {
      const { status, isTaken, patienceMs } = await actingFor(item.account_sid, () => deliver(item, signal))
      if (isTaken)
        return {
          id: item.id,
          outcome: 'delivered',
          status,
          durationMs: Math.round(clock.monotonic() - started),
        }
      const failure = { status, sentence: `the hook answered with status ${status}` }
      // Status 410 means that the receiver will not come back (RFC 9110 §15.5.11).
      return status === 410 ? abandon(item, failure) : retry(item, failure, patienceMs)
    } catch (error) {
      const failure = failureOf(error)
      // A request that was cut by a stop is not a failure of its receiver, and its outcome is not kept.
      if (signal.aborted) return { id: item.id, outcome: 'retry', at: clock.now(), error: failure.sentence }
      if (failure.code === 'hook_bad_url') return abandon(item, failure)
      if (failure.code === undefined)
        log.error({ err: error, call_sid: item.call_sid }, 'notification cannot be sent')
      return retry(item, failure)
    }
  }
}

function failureOf(error: unknown): Failure {
  return error instanceof AppError
    ? { code: error.code, sentence: error.message }
    : { sentence: 'the platform could not send the request' }
}
