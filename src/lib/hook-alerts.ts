// Which alert the failure of a hook raises: the words that clients of the alerts endpoint know.
import type { ErrorCode } from './errors.ts'

const byStatus: ReadonlyMap<number, string> = new Map([
  [401, 'webhook-auth-failure'],
  [403, 'webhook-auth-failure'],
  [404, 'webhook-url-notfound'],
])

const byCode: ReadonlyMap<string, string> = new Map<ErrorCode, string>([
  ['hook_unreachable', 'webhook-connection-failure'],
  ['hook_timeout', 'webhook-connection-failure'],
  ['hook_refused_address', 'webhook-connection-failure'],
  ['hook_invalid_payload', 'invalid-app-payload'],
  ['hook_too_large', 'invalid-app-payload'],
])

export interface HookFailure {
  /** Of the HTTP answer, when there was one. */
  readonly status?: number | undefined
  readonly code?: string | undefined
}

export function hookAlertType({ status, code }: HookFailure): string {
  const known = status === undefined ? undefined : byStatus.get(status)
  return known ?? (code === undefined ? undefined : byCode.get(code)) ?? 'webhook-failure'
}
