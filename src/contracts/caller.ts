// The sender of a request, and whose rows it may see. Authentication makes it, every repository filters by it.

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
      /** The login this request belongs to; logging out ends it. */
      readonly session_sid: string
    }

/** The authenticated sender of an API request. */
export interface Caller {
  readonly tenancy: Exclude<Tenancy, { level: 'system' }>
  readonly principal: Principal
  readonly isViewOnly: boolean
  /** True: may do nothing before that. */
  readonly mustChangePassword?: boolean
  /** How often its account and its service provider may ask; empty: they are not limited. */
  readonly quotas?: readonly RequestQuota[]
}

export interface RequestQuota {
  readonly owner: { readonly account_sid: string } | { readonly service_provider_sid: string }
  readonly perMinute: number
}

export const systemTenancy: Tenancy = { level: 'system' }
