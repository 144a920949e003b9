// The sender of a request, and the rows that it may see. Authentication creates it, and every repository filters by it.

/** The tenancy a repository is bound to. `system` is the platform itself: call engine, first boot, recovery. */
export type Tenancy =
  | { readonly level: 'system' }
  | { readonly level: 'admin' }
  | { readonly level: 'service_provider'; readonly service_provider_sid: string }
  | { readonly level: 'account'; readonly service_provider_sid: string; readonly account_sid: string }

export type Principal =
  | { readonly kind: 'api_key'; readonly api_key_sid: string }
  | {
      readonly kind: 'user'
      readonly user_sid: string
      readonly name: string
      /** The login that the request belongs to. Logging out ends it. */
      readonly session_sid: string
    }

/** The authenticated sender of an API request. */
export interface Caller {
  readonly tenancy: Exclude<Tenancy, { level: 'system' }>
  readonly principal: Principal
  readonly isViewOnly: boolean
  /** True if the user may do nothing before changing the password. */
  readonly mustChangePassword?: boolean
  /** The limits on the request rates of its account and its service provider. Empty if there are none. */
  readonly quotas?: readonly RequestQuota[]
}

export interface RequestQuota {
  readonly owner: { readonly account_sid: string } | { readonly service_provider_sid: string }
  readonly perMinute: number
}

export const systemTenancy: Tenancy = { level: 'system' }
