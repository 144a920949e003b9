// The URL of a hook: its destination and, in its fragment, the failures that are worth another try.
import { parseTarget } from '../network/address-guard.ts'
import { AppError } from '../lib/errors.ts'

type RetryClass = 'ct' | 'rt' | '4xx' | '5xx' | 'all'

export interface RetryPolicy {
  /** The number of tries after the first one. */
  readonly retries: number
  readonly on: ReadonlySet<RetryClass>
}

export interface HookUrl {
  /** The absolute URL, without a fragment. */
  readonly url: string
  readonly retry: RetryPolicy
}

const maxRetries = 5
const retryClasses: readonly RetryClass[] = ['ct', 'rt', '4xx', '5xx', 'all']

/** Throws hook_bad_url unless the text is an absolute URL. */
export function parseHookUrl(text: string): HookUrl {
  const url = parseTarget(text)
  const retry = parseRetryPolicy(url.hash.slice(1))
  url.hash = ''
  return { url: url.href, retry }
}

/**
 * Parses the URL of an application over WebSocket in the same way. Its connection is tried again unless the URL says
 * otherwise.
 */
export function parseSocketUrl(text: string): HookUrl {
  if (!isSocketUrl(text)) throw new AppError('hook_bad_url', 'the URL is neither ws nor wss')
  const url = parseTarget(text.replace(/^ws/i, 'http'))
  const retry = parseRetryPolicy(url.hash.slice(1), maxRetries)
  url.hash = ''
  return { url: url.href.replace(/^http/, 'ws'), retry }
}

export function isSocketUrl(text: string): boolean {
  return /^wss?:/i.test(text)
}

/** Parses `#rc=<retries>&rp=<classes>`; anything else in the fragment is ignored. */
function parseRetryPolicy(fragment: string, usual = 0): RetryPolicy {
  const parameters = new URLSearchParams(fragment)
  const count = Number(parameters.get('rc') ?? String(usual))
  const named = (parameters.get('rp') ?? '').split(',').map((word) => word.trim().toLowerCase())
  const on = new Set(retryClasses.filter((known) => named.includes(known)))
  return {
    retries: Number.isInteger(count) ? Math.min(Math.max(count, 0), maxRetries) : 0,
    on: on.size === 0 ? new Set<RetryClass>(['ct']) : on,
  }
}

/**
 * Returns whether the policy names this failure. Where a connection is all that is asked for, one that is not there in time is a
 * connection that failed (`ct`): no question has been sent that could be answered late (`rt`).
 */
export function isWorthRetrying(
  error: AppError,
  policy: RetryPolicy,
  asked: 'answer' | 'connection' = 'answer',
): boolean {
  const isLateConnection = asked === 'connection' && error.code === 'hook_timeout'
  const kind = isLateConnection && policy.on.has('ct') ? 'ct' : retryClassOf(error)
  return kind !== undefined && (policy.on.has(kind) || policy.on.has('all'))
}

/** Returns undefined for a failure that the next try would also have. */
function retryClassOf(error: AppError): RetryClass | undefined {
  if (error.detail !== undefined && 'isLasting' in error.detail) return undefined
  if (error.code === 'hook_unreachable') return 'ct'
  if (error.code === 'hook_timeout') return 'rt'
  if (error.code !== 'hook_bad_status') return undefined
  const status = error.detail !== undefined && 'status' in error.detail ? Number(error.detail.status) : 0
  if (status >= 500) return '5xx'
  return status >= 400 ? '4xx' : undefined
}
