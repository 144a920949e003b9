// The schedule of retries for a failed notification: the time of the next attempt, and when it is given up.
import type { OutgoingAnswer } from '../outgoing/outgoing.ts'

const secondMs = 1000
const minuteMs = 60 * secondMs
const hourMs = 60 * minuteMs

/** The waits after the first, second ... failure. The first ones are short, because most failures are a restart. */
export const retryDelaysMs: readonly number[] = [
  secondMs,
  5 * secondMs,
  15 * secondMs,
  minuteMs,
  5 * minuteMs,
  15 * minuteMs,
  30 * minuteMs,
  hourMs,
  2 * hourMs,
  4 * hourMs,
]
/** The wait after each later failure. */
const steadyDelayMs = 6 * hourMs
/**
 * The age at which a notification is given up. It covers a long weekend: a receiver that is repaired on Monday gets
 * the notifications of Friday.
 */
export const maxAgeMs = 72 * hourMs
/** Spreads the retries of notifications that failed in the same second. */
export const jitter = 0.1
// The longest wait that a receiver may request with Retry-After.
const maxRetryAfterMs = 24 * hourMs

export interface Failure {
  /** Failed attempts before this one. */
  readonly attempts: number
  readonly created_at: number
  readonly now: number
  /** The delay that Retry-After names. */
  readonly retryAfterMs: number | undefined
  /** A number from 0 up to 1. */
  readonly random: number
}

/** Returns the epoch ms of the next attempt, or undefined when there is none. */
export function nextAttemptAt({
  attempts,
  created_at,
  now,
  retryAfterMs = 0,
  random,
}: Failure): number | undefined {
  const delayMs = (retryDelaysMs[attempts] ?? steadyDelayMs) * (1 + jitter * (2 * random - 1))
  // A wait beyond the age would drop the notification, although its receiver wants it later.
  const wantedMs = Math.min(retryAfterMs, maxRetryAfterMs, created_at + maxAgeMs - now)
  const at = Math.round(now + Math.max(delayMs, wantedMs))
  return at - created_at > maxAgeMs ? undefined : at
}

/** Returns the wait in a Retry-After header, seconds or a date: RFC 9110 §10.2.3. */
export function retryAfterMs({ headers }: Pick<OutgoingAnswer, 'headers'>, now: number): number | undefined {
  const text = String(headers['retry-after'] ?? '').trim()
  if (text === '') return undefined
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * secondMs : Date.parse(text) - now
  return Number.isFinite(ms) && ms > 0 ? ms : undefined
}
