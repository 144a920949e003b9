// Alerts: problems that a person should know of, in the terms of the alerts endpoint.

/** An account, or a service provider on its own. */
export type AlertOwner =
  | { readonly account_sid: string; readonly service_provider_sid?: undefined }
  | { readonly service_provider_sid: string; readonly account_sid?: undefined }

export type Alert = AlertOwner & {
  readonly alert_type: string
  readonly message: string
  readonly detail?: string
  readonly vendor?: string
  readonly call_sid?: string
  /** Alerts of the same owner and type with the same value are kept once, whichever node raises them first. */
  readonly once?: string
}

export interface Alerts {
  /** Accepts the alert immediately, and never throws. Of a flood from one account, some are kept. */
  raise(alert: Alert): void
}

/** The alert for each status of a hook's HTTP response. */
export const hookAlertsByStatus: Readonly<Record<number, string>> = {
  401: 'webhook-auth-failure',
  403: 'webhook-auth-failure',
  404: 'webhook-url-notfound',
}

/** The alert for each error code of a hook's failure. */
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
