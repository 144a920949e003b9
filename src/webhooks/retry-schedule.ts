// When a notification that failed is tried again, and when it is given up.
import type { OutgoingAnswer } from '../outgoing/outgoing.ts'

const secondMs = 1000
const minuteMs = 60 * secondMs
const hourMs = 60 * minuteMs

/** The wait after the first, second ... failure. The first ones are short: most failures are a restart. */
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
/** From then on. */
const steadyDelayMs = 6 * hourMs
/** A long weekend: a receiver that is repaired on Monday gets the notifications of Friday. */
export const maxAgeMs = 72 * hourMs
/** Spreads the return of everything that failed in the same second. */
export const jitter = 0.1
// A receiver may ask for patience, but not for more than a day of it.
const maxRetryAfterMs = 24 * hourMs

export interface Failure {
  /** Failed attempts before this one. */
  readonly attempts: number
  readonly created_at: number
  readonly now: number
  /** The delay that Retry-After names. */
  readonly retryAfterMs: number | undefined
  /** 0 up to 1. */
  readonly random: number
}

/** Epoch ms of the next attempt; undefined when there is none. */
export function nextAttemptAt({
  attempts,
  created_at,
  now,
  retryAfterMs = 0,
  random,
}: Failure): number | undefined {
  const delayMs = (retryDelaysMs[attempts] ?? steadyDelayMs) * (1 + jitter * (2 * random - 1))
  const at = Math.round(now + Math.max(delayMs, Math.min(retryAfterMs, maxRetryAfterMs)))
  return at - created_at > maxAgeMs ? undefined : at
}

/** RFC 9110 §10.2.3: seconds or a date. */
export function retryAfterMs({ headers }: Pick<OutgoingAnswer, 'headers'>, now: number): number | undefined {
  const text = String(headers['retry-after'] ?? '').trim()
  if (text === '') return undefined
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * secondMs : Date.parse(text) - now
  return Number.isFinite(ms) && ms > 0 ? ms : undefined
}
