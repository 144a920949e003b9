// Alerts: what a person should know of, in the words that clients of the alerts endpoint know.

/** An account, or a service provider alone. */
export type AlertOwner =
  | { readonly account_sid: string; readonly service_provider_sid?: undefined }
  | { readonly service_provider_sid: string; readonly account_sid?: undefined }

export type Alert = AlertOwner & {
  readonly alert_type: string
  readonly message: string
  readonly detail?: string
  readonly vendor?: string
  readonly call_sid?: string
  /** Of those of one owner and type that name the same, one is kept, whichever node raises it first. */
  readonly once?: string
}

export interface Alerts {
  /** Takes the alert at once, and never throws. Of a flood from one account, some are kept. */
  raise(alert: Alert): void
}

/** Which alert the status of a hook's HTTP answer raises. */
export const hookAlertsByStatus: Readonly<Record<number, string>> = {
  401: 'webhook-auth-failure',
  403: 'webhook-auth-failure',
  404: 'webhook-url-notfound',
}

/** Which alert the error code of a hook's failure raises. */
export const hookAlertsByCode: Readonly<Record<string, string>> = {
  hook_unreachable: 'webhook-connection-failure',
  hook_timeout: 'webhook-connection-failure',
  hook_refused_address: 'webhook-connection-failure',
  hook_invalid_payload: 'invalid-app-payload',
  hook_too_large: 'invalid-app-payload',
}

export interface HookFailure {
  /** The status of the HTTP response, when there was one. */
  readonly status?: number | undefined
  readonly code?: string | undefined
}

export function hookAlertType({ status = 0, code = '' }: HookFailure): string {
  return hookAlertsByStatus[status] ?? hookAlertsByCode[code] ?? 'webhook-failure'
}
